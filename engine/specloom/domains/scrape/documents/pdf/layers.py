"""The layers of a PDF file (optional content, ISO 32000-1, 8.11) that are switched off when it is opened."""

from __future__ import annotations

from typing import Any, Final

from .object_store import ObjectStore, PdfReference

_MOST_LAYERS: Final = 2000


def find_hidden_layers(store: ObjectStore) -> frozenset[str]:
    """The names of the layers that are off; of a name that several layers have, only where all of them are.

    PDFium tells of what is drawn on a layer no more than its name.
    """
    get = store.get_dict
    properties = get(get(store.trailer.get(b"Root")).get(b"OCProperties"))
    usual = get(properties.get(b"D"))
    on, off = (_numbers(store.get_list(usual.get(key))) for key in (b"ON", b"OFF"))
    is_usually_off = store.get(usual.get(b"BaseState")) == b"OFF"
    names: dict[str, bool] = {}
    for each in store.get_list(properties.get(b"OCGs"))[:_MOST_LAYERS]:
        if isinstance(each, PdfReference):
            group = get(each)
            stated = store.get(get(get(group.get(b"Usage")).get(b"View")).get(b"ViewState"))
            is_off = stated == b"OFF" if stated else each.number in off or (is_usually_off and each.number not in on)
            name = _to_text(store.get(group.get(b"Name")))
            names[name] = is_off and names.get(name, True)
    return frozenset(name for name, is_off in names.items() if is_off and name)


def _numbers(values: list[Any]) -> frozenset[int]:
    return frozenset(each.number for each in values if isinstance(each, PdfReference))


def _to_text(value: Any) -> str:
    """A text string as PDFium gives it; "" for none."""
    if not isinstance(value, bytes):
        return ""
    if value.startswith(b"\xfe\xff"):
        return value[2:].decode("utf-16-be", "ignore")
    return value.decode("utf-8" if value.startswith(b"\xef\xbb\xbf") else "latin-1", "ignore").removeprefix("\ufeff")
