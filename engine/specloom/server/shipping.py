"""What is compiled when the package is built and comes with it."""

from __future__ import annotations

from pathlib import Path

from specloom.compiler import make_image, weave_served
from specloom.core import shipped_folder
from specloom.specs import listed_prompt, load_prompts

from .catalogue import FORMAT, conditions, listings, make_catalogue, pack_catalogue, stamp_shipped
from .served import shipped_model
from .start import default_selection


def ship(folder: str) -> None:
    """Write what comes with the package: the model for this interpreter, and the catalogue of an empty home.

    ValueError where the shipped specs have errors.
    """
    model, _, report, _ = weave_served([Path(shipped_folder())])
    if report.errors:
        raise ValueError(f"{report.errors[0].place}: {report.errors[0].message}")
    stamp, selection = stamp_shipped()[0], default_selection({})
    prompts = [listed_prompt(one) for one in load_prompts([shipped_folder()]).values()]
    catalogue = make_catalogue(model, selection, {}, prompts=prompts)
    packed = pack_catalogue(catalogue, f"{FORMAT} {selection.key()}\n{stamp}", conditions(model).read({}))
    Path(folder, "catalogue.json").write_bytes(packed)
    Path(folder, Path(shipped_model()).name).write_bytes(make_image(model, stamp, prompts, listings(model)))
