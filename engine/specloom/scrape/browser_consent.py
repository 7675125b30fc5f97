"""Consent walls: refused where that can be done, accepted where it cannot, in the page, its shadow roots and frames.

A button is known by the name that a framework gives it, or by what is written on it.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final

from specloom.faults import Fault

from .consent_words import ABOUT, ACCEPT, NOTED, REFUSE, SAVE

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable

MOST_FRAMES: Final = 10
"""Frames of a page that are looked into."""

REFUSING: Final = ",".join(
    (
        "#onetrust-reject-all-handler, .ot-pc-refuse-all-handler",
        "#CybotCookiebotDialogBodyButtonDecline, #CybotCookiebotDialogBodyLevelButtonLevelOptinDeclineAll",
        "#didomi-notice-disagree-button, .didomi-continue-without-agreeing",
        ".sp_choice_type_13, [data-testid=uc-deny-all-button], #uc-btn-deny-banner",
        "#truste-consent-required, .osano-cm-denyAll, .osano-cm-deny, .cmplz-deny, .cky-btn-reject, #cn-refuse-cookie",
        ".cn-decline, #tarteaucitronAllDenied2, [data-cookie-refuse], .brlbs-btn-accept-only-essential",
        ".iubenda-cs-reject-btn, #axeptio_btn_dismiss, #cmpbntnotxt, #cmpwelcomebtnno, .fc-cta-do-not-consent",
        "#ccc-reject-settings, #shopify-pc__banner__btn-decline, #hs-eu-decline-button, .cc-deny, .cmpboxbtnno",
        ".termly-styles-module-decline, [data-tid=banner-decline], .cc-nb-reject, #cookiescript_reject",
        "#wt-cli-reject-btn",
    )
)
"""The buttons that refuse, by the names that the common frameworks give them."""
ACCEPTING: Final = ",".join(
    (
        "#onetrust-accept-btn-handler, #CybotCookiebotDialogBodyLevelButtonLevelOptinAllowAll",
        "#CybotCookiebotDialogBodyButtonAccept, #didomi-notice-agree-button, .sp_choice_type_11",
        "[data-testid=uc-accept-all-button], #uc-btn-accept-banner, .qc-cmp2-summary-buttons button[mode=primary]",
        "#truste-consent-button, .osano-cm-accept-all, .osano-cm-accept, .cmplz-accept, .cky-btn-accept",
        "#cn-accept-cookie, .cm-btn-accept-all, #tarteaucitronPersonalize2, [data-cookie-accept-all]",
        ".iubenda-cs-accept-btn, #axeptio_btn_acceptAll, #cmpbntyestxt, #cmpwelcomebtnyes, .fc-cta-consent",
        "#ccc-recommended-settings, #shopify-pc__banner__btn-accept, #hs-eu-confirmation-button, .cc-allow",
        ".cc-dismiss, [data-tid=banner-accept], .cc-nb-okagree, #cookiescript_accept",
        "#wt-cli-accept-all-btn, .cmpboxbtnyes",
    )
)
"""The buttons that accept, likewise."""

LABELS: Final = tuple(f"^(?:{'|'.join(group)})$" for group in (REFUSE, SAVE, ACCEPT, NOTED))
"""What is written on buttons, best first."""

# A button counts where it is a framework's own, or in something that lies over the page or is named for consent; in
# the frame of a wall (`whole`), everywhere. Gives what was pressed, or "".
CONSENT: Final = r"""([refusing, accepting, labels, about, whole]) => {
  const speaks = new RegExp(about, "i");
  const elements = [];
  const collect = root => {
    for (const element of root.querySelectorAll("*")) {
      if (elements.length >= 20000) return;
      elements.push(element);
      if (element.shadowRoot) collect(element.shadowRoot);
    }
  };
  collect(document);
  const textOf = element => (element.innerText || element.value || element.textContent || "").trim();
  if (whole && !speaks.test(document.body ? document.body.innerText : "")) return "";
  const seen = element => element.getClientRects().length && !element.disabled;
  const up = at => at.parentElement || (at.getRootNode().host ?? null);
  const lies = (element, leads) => {
    if (whole) return true;
    for (let at = element; at && at !== document.body && at !== document.documentElement; at = up(at)) {
      const style = getComputedStyle(at);
      const over = style.position === "fixed" || style.position === "sticky"
        || at.matches("dialog, [role=dialog], [role=alertdialog], [aria-modal=true]");
      if (over && speaks.test(textOf(at))) return true;
      if (!leads && speaks.test(at.id + " " + (at.getAttribute("class") || ""))) return true;
    }
    return false;
  };
  const press = (element, label) => { element.click(); return label || "pressed"; };
  const named = selectors => elements.find(element => element.matches(selectors) && seen(element));
  const trimmed = text => text.toLowerCase().replace(/\s+/g, " ").replace(/^[^\p{L}]+|[^\p{L}]+$/gu, "");
  const buttons = elements
    .filter(element => element.matches("button, [role=button], a, input[type=button], input[type=submit]"))
    .map(element => [element, trimmed(textOf(element))])
    .filter(([element, text]) => text && text.length <= 50 && seen(element));
  const written = label => {
    const pattern = new RegExp(label, "u");
    return buttons.find(([element, text]) => pattern.test(text) && lies(element, leadsOn(element)));
  };
  const leadsOn = element => element.tagName === "A" && element.pathname && element.pathname !== location.pathname;
  const refuse = named(refusing);
  if (refuse) return press(refuse, "refused");
  for (const label of labels.slice(0, 2)) { const found = written(label); if (found) return press(...found); }
  const accept = named(accepting);
  if (accept) return press(accept, "accepted");
  for (const label of labels.slice(2)) { const found = written(label); if (found) return press(...found); }
  return "";
}"""

_ASKED: Final = (REFUSING, ACCEPTING, LABELS, ABOUT)


async def answer_consent(page: Any, run: Callable[..., Awaitable[Any]], silent: set[Any]) -> bool:
    """Whether a button of a consent wall was pressed, in the page itself or in one of its frames.

    `run` runs a script in a frame with an argument and gives what it returns, or nothing where it cannot be run. A
    frame that does not answer is a fault of it: it is put into `silent`, not asked again, and its page is not given up.
    """
    if await run(page, CONSENT, [*_ASKED, False]):
        return True
    frames = [frame for frame in page.frames if frame != page.main_frame and frame not in silent]
    for frame in frames[:MOST_FRAMES]:
        try:
            if await run(frame, CONSENT, [*_ASKED, True]):
                return True
        except Fault:
            silent.add(frame)
            return False
    return False
