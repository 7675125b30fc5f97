"""Consent walls: refused where that can be done, accepted where it cannot, in the page, its shadow roots and frames.

A button is known by the name that a framework gives it, or by what is written on it.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final

from specloom.core import Fault

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable


# --- What is written on the buttons of consent walls, and what the walls speak of, in the languages of those who
# must ask -------------------------------------------------------------------------------------------------------------
# The texts are patterns over small letters, without signs at their ends; `COOKIES` and `ALL` say what many of them add.


COOKIES: Final = r"(?: (?:the |las |les |os |i |le )?(?:cookies?|kakor|evästeet))?"
ALL: Final = (
    r"(?: (?:all|them all|everything|tod[oa]s?|tudo|tout|tous|tutt[oi]|alles?|alla|allt|alt|kaikki|toate|vše))?"
)

REFUSE: Final = (
    # English
    rf"(?:i |no,? i )?(?:reject|decline|refuse|deny|disagree|do not (?:accept|agree|consent)){ALL}"
    rf"(?: (?:optional|additional|non[- ]?essential|non[- ]?necessary|unnecessary|tracking))?{COOKIES}"
    r"(?: (?:and|&) (?:close|continue))?",
    rf"(?:(?:only|use|accept|allow|continue with) )*(?:strictly )?(?:necessary|essential|required){COOKIES}(?: only)?",
    r"(?:continue|proceed) without (?:accepting|agreeing|consent\p{L}*|cookies)",
    r"no,? thanks?(?: you)?",
    # German, Dutch
    r"(?:alles? |alle cookies |cookies )?(?:ablehnen|verweigern)",
    r"nicht zustimmen|(?:ich )?(?:lehne ab|stimme nicht zu)",
    r"(?:weiter |fortfahren |nur |mit )*(?:technisch )?(?:notwendige|essenzielle|essentielle|erforderliche)n?"
    r"(?: cookies?)?(?: (?:akzeptieren|zulassen|verwenden|erlauben))?",
    r"(?:weiter |fortfahren )?ohne (?:zustimmung|einwilligung)(?: (?:fortfahren|weiter|weiterlesen))?",
    r"(?:alles |alle |alle cookies |cookies )?(?:weigeren|afwijzen)",
    rf"weiger{ALL}{COOKIES}|doorgaan zonder (?:te )?accepteren",
    rf"alleen (?:noodzakelijke?|functionele|essentiële){COOKIES}",
    # French, Spanish, Catalan, Portuguese, Italian, Romanian
    rf"(?:je )?(?:tout )?(?:refuser?|rejeter){ALL}{COOKIES}",
    r"continuer sans (?:accepter|consentir)",
    r"(?:uniquement |seulement )?(?:les )?(?:cookies )?(?:essentiels|nécessaires)(?: (?:uniquement|seulement))?",
    rf"(?:rechazar|denegar|no acept(?:ar|o)|rebutjar?(?: totes)?){ALL}{COOKIES}",
    r"(?:aceptar )?(?:s[oó]lo|únicamente) (?:las )?(?:cookies )?(?:necesarias|esenciales)",
    rf"(?:rejeitar|recusar|não aceit(?:ar|o)){ALL}{COOKIES}",
    r"(?:apenas|somente|só) (?:os )?(?:cookies )?(?:necessários|essenciais)",
    r"contin(?:uar sin aceptar|uar sem aceitar|ua senza accettare)",
    rf"(?:rifiuta|nega|non accetto|rifiuto){ALL}{COOKIES}",
    r"solo (?:i )?(?:cookie )?(?:necessari|essenziali|tecnici)",
    rf"(?:respinge(?:ți)?|refuz\p{{L}}*){ALL}",
    # Swedish, Norwegian, Danish, Finnish
    rf"(?:avvisa|neka|avböj|avvis|afvis|avslå){ALL}{COOKIES}",
    rf"(?:endast|bara|kun|bare)(?: tillåt| tillad| tillat)? (?:nödvändiga?|nødvendige?){COOKIES}",
    rf"hylkää{ALL}{COOKIES}|(?:salli )?vain välttämättömät{COOKIES}",
    # Polish, Czech, Slovak, Russian, Ukrainian, Bulgarian, Croatian
    r"odrzuć(?: wszystkie?| wszystko)?|nie zgadzam się|tylko niezbędne",
    r"odmítnout(?: vše)?|odmietnuť(?: všetko)?|(?:pouze|len|iba) nezbytné",
    r"отклонить(?: вс[её])?|відхилити(?: вс[еі])?|отказ(?:вам)?(?: всички)?|odbij sve",
    # Hungarian, Greek, Turkish
    r"(?:összes |az összes )?elutasít\p{L}*|(?:απόρριψη|απορρίπτω)(?: όλων)?|(?:tümünü |hepsini )?reddet",
    # Japanese, Chinese, Korean, Hebrew, Arabic
    r"(?:すべて|全て)?(?:を)?(?:拒否|同意しない)(?:する)?",
    r"(?:全部|一律)?(?:拒绝|拒絕)(?:全部|所有)?(?: ?cookies?)?",
    r"(?:모두 )?거부(?:하기)?|דחה הכל|דחיית הכול|رفض(?: الكل| الجميع)?",
)
"""What refuses."""
SAVE: Final = (
    r"(?:save|confirm|submit)(?: (?:and|&) (?:exit|close|continue))?"
    r"(?: (?:my )?(?:choices?|preferences|settings|selection))?",
    r"(?:auswahl|einstellungen) (?:speichern|bestätigen|erlauben)|selectie (?:opslaan|toestaan)",
    r"(?:enregistrer|confirmer)(?: (?:mes|les) (?:choix|préférences))?",
    r"guardar (?:preferencias|selección|preferências)|salva (?:le )?preferenze",
)
"""What takes the choices as they stand: what may be preselected is what needs no consent."""
ACCEPT: Final = (
    # English
    rf"(?:yes,? )?(?:i )?(?:accept|agree|allow|consent)(?: to)?{ALL}(?: recommended)?{COOKIES}"
    r"(?: (?:and|&) (?:close|continue|proceed))?",
    # German, Dutch
    r"(?:alles? |allen |alle cookies |cookies )?(?:akzeptieren|zulassen|erlauben|annehmen)"
    r"(?: (?:und|&) (?:weiter|schließen))?",
    r"(?:ich )?(?:stimme zu|akzeptiere)(?: alle)?|einverstanden",
    r"(?:allen? )?zustimmen(?: (?:und|&) weiter(?:lesen)?)?|mit werbung (?:und cookies )?weiterlesen",
    r"(?:alles |alle |alle cookies |cookies )?(?:accepteren|toestaan)",
    rf"accepteer{ALL}{COOKIES}|akkoord",
    # French, Spanish, Catalan, Portuguese, Italian, Romanian
    rf"(?:j.|je |tout )?(?:accepter?|autoriser){ALL}{COOKIES}(?: et (?:continuer|fermer))?|d.accord",
    rf"(?:aceptar|acepto|permitir|accepta|acceptar){ALL}{COOKIES}(?: y (?:continuar|cerrar))?|de acuerdo",
    rf"(?:aceitar|aceito|permitir|concordo){ALL}{COOKIES}(?: e (?:continuar|fechar))?",
    rf"(?:accetta|accetto|acconsento|consenti){ALL}{COOKIES}(?: e (?:continua|chiudi))?",
    rf"(?:acceptați?|accept){ALL}{COOKIES}|sunt de acord",
    # Swedish, Norwegian, Danish, Finnish
    rf"(?:godkänn|acceptera|tillåt|aksepter|godta|tillat|acceptér|accepter|tillad|godkend){ALL}{COOKIES}",
    rf"(?:hyväksy|salli){ALL}{COOKIES}",
    # Polish, Czech, Slovak, Russian, Ukrainian, Bulgarian, Croatian
    r"(?:zaakceptuj|akceptuj\p{L}*|akceptuję)(?: wszystkie?| wszystko)?|zgadzam się|przejdź do serwisu",
    r"(?:přijmout|povolit|prijať|povoliť)(?: vše\p{L}*| všetk\p{L}*)?|souhlasím|súhlasím",
    r"принять(?: вс[её])?|соглас\p{L}+|прийняти(?: вс[еі])?|погоджуюсь|приемам(?: всички)?|prihvati(?:te)?(?: sve)?",
    # Hungarian, Greek, Turkish
    r"(?:összes |mindet |az összes )?elfogad\p{L}*|(?:αποδοχή|αποδέχομαι|συμφωνώ)(?: όλων)?",
    r"(?:tümünü |hepsini )?kabul (?:et|ediyorum)",
    # Japanese, Chinese, Korean, Hebrew, Arabic
    r"(?:すべて|全て)?(?:に|を)?(?:同意|許可|承諾|受け入れ)(?:する|る)?",
    r"(?:全部|一律)?(?:接受|同意|允许|允許)(?:全部|所有)?(?: ?cookies?)?",
    r"(?:모두 )?(?:동의|허용|수락)(?:하기|합니다)?|אשר הכל|אישור הכל|أوافق|(?:قبول|موافقة)(?: الكل| الجميع)?",
)
"""What accepts."""
NOTED: Final = (
    r"ok(?:ay)?|(?:ok,? )?(?:got it|i understand)|understood|alright|continue|close and accept",
    r"verstanden|weiter|compris|entendido|ho capito|begrepen|rozumiem|rozumím|понятно|хорошо",
    r"知道了|確認|了解|확인|tamam",
)
"""What takes note of a wall that gives no choice."""

ABOUT: Final = "|".join(
    (
        r"cookie|consent|privacy|gdpr|tracking|personal data|datenschutz|zustimm|einwillig|vie privée|données",
        r"privacidad|datos personales|privacidade|dados pessoais|toestemming|prywatno|zgod[aąyę]|kakor|integritet",
        r"personvern|eväste|yksityisyy|soukromí|souhlas|adatvéd|süti|απόρρητ|gizlilik|çerez|куки|конфиденциальн",
        r"персональн|クッキー|プライバシー|隐私|隱私|쿠키|개인정보|עוגיות|פרטיות|ملفات تعريف|الخصوصية",
    )
)
"""What a wall speaks of."""


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
