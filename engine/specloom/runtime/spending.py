"""What calls cost, and the ceilings that an operator sets: a question that would go beyond one is not asked."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Mapping
from typing import TYPE_CHECKING, Any

from specloom.core import BackplaneError, Fault, dataclass, field

if TYPE_CHECKING:
    from specloom.core import Counters

DAY = 86_400.0
SESSION = 30 * DAY
"""Seconds for which the sum of a session is kept."""
MICRO = 1_000_000
"""Shared counters count whole numbers, so dollars are counted in millionths."""


@dataclass(frozen=True, slots=True)
class Ceilings:
    """What may be spent at most; 0 is no ceiling."""

    calls_per_question: int = 0
    """Requests to paid providers."""
    usd_per_question: float = 0.0
    calls_per_day: int = 0
    usd_per_day: float = 0.0
    usd_per_session: float = 0.0


@dataclass(slots=True)
class BillLine:
    """What one provider was asked, and for how much."""

    requests: int = 0
    usd: float = 0.0


@dataclass(slots=True)
class CallBill:
    """What one call has asked of whom, and what it cost as far as that is known."""

    tenant: str = ""
    session: str = ""
    lines: dict[str, BillLine] = field(default_factory=dict)
    reserved: float = 0.0
    """What the requests cost, in dollars, for which there are places and that were not sent yet."""

    @property
    def usd(self) -> float:
        """What all of it cost, in dollars."""
        return sum(line.usd for line in self.lines.values())

    def to_json(self) -> dict[str, Any]:
        """The bill as `_meta.cost` tells it; empty where nobody was asked."""
        if not self.lines:
            return {}
        by = {name: {"requests": line.requests, "usd": round(line.usd, 6)} for name, line in self.lines.items()}
        return {"usd": round(self.usd, 6), "requests": sum(one.requests for one in self.lines.values()), "by": by}


class Spending:
    """Keeps the ceilings, for each tenant and over all who share the counters, and adds up what was spent."""

    def __init__(self, ceilings: Ceilings, counters: Counters | None, clock: Callable[[], float]) -> None:
        self.ceilings = ceilings
        self.totals: dict[str, BillLine] = {}
        """What this process has asked, by provider."""
        self._counters, self._clock = counters, clock
        self._alone: dict[str, tuple[float, int]] = {}
        """The sums that could not be kept together with others, with the moment at which each ends."""

    def under(self, ceilings: Ceilings) -> Spending:
        """The same sums under other ceilings."""
        other = Spending(ceilings, self._counters, self._clock)
        other.totals, other._alone = self.totals, self._alone
        return other

    def begin(self, tenant: str, session: str) -> CallBill:
        """The bill of a call."""
        return CallBill(tenant, session)

    async def hold(self, bill: CallBill, usd: float) -> None:
        """Take so much out of what may be spent; a fault, and nothing taken, where it is not there."""
        taken: list[tuple[str, int, float]] = []
        for key, amount, most, until, told in self._holds(bill, usd):
            if await self._add(key, amount, until) > most:
                for other, given, end in [*taken, (key, amount, until)]:
                    await self._add(other, -given, end)
                raise self._refusal(*told, until)
            taken.append((key, amount, until))

    async def give_back(self, bill: CallBill, usd: float) -> None:
        """Put back what was not spent in the end, or take what was more."""
        if usd:
            for key, amount, _, until, _ in self._holds(bill, usd):
                if key.startswith("spent:"):
                    await self._add(key, -amount, until)

    def _holds(self, bill: CallBill, usd: float) -> Iterator[tuple[str, int, float, float, tuple[str, str]]]:
        """Each sum that a ceiling bounds: its key, what is added, the most, when it ends, and what to say of it."""
        ceilings, now = self.ceilings, self._clock()
        midnight, micros = (now // DAY + 1) * DAY, round(usd * MICRO)
        if ceilings.usd_per_day:
            told = f"${ceilings.usd_per_day:g} a day", "SPECLOOM_MAX_USD_PER_DAY"
            yield f"spent:day:{bill.tenant}:{midnight:.0f}", micros, ceilings.usd_per_day * MICRO, midnight, told
        if ceilings.calls_per_day:
            told = f"{ceilings.calls_per_day:,} paid requests a day", "SPECLOOM_MAX_PAID_CALLS_PER_DAY"
            yield f"asked:day:{bill.tenant}:{midnight:.0f}", 1, ceilings.calls_per_day, midnight, told
        if ceilings.usd_per_session and bill.session:
            ends = (now // SESSION + 1) * SESSION
            told = f"${ceilings.usd_per_session:g} a research session", "SPECLOOM_MAX_USD_PER_SESSION"
            key = f"spent:session:{bill.tenant}:{bill.session}:{ends:.0f}"
            yield key, micros, ceilings.usd_per_session * MICRO, ends, told

    def _refusal(self, what: str, variable: str, until: float) -> Fault:
        seconds = max(1, math.ceil(until - self._clock()))
        sentence = f"This server spends {what} at most ({variable}), which this request would go beyond."
        return Fault("over_budget", sentence, retry_after=seconds, detail=variable, ours=True)

    async def _add(self, key: str, amount: int, until: float) -> int:
        if self._counters is not None:
            try:
                return await self._counters.add(key, amount, until=until)
            except BackplaneError:
                pass  # this process goes on by itself
        if len(self._alone) > 1000:
            now = self._clock()
            self._alone = {name: one for name, one in self._alone.items() if one[0] > now}
        count = self._alone.get(key, (until, 0))[1] + amount
        self._alone[key] = (until, count)
        return count


@dataclass(slots=True)
class PaidQuestion:
    """One question of a call, whose fall-back from provider to provider has a ceiling of its own."""

    bill: CallBill
    spending: Spending
    paid: int = 0
    """Requests that are paid for, those for which there is a place included."""

    def meter(self, provider: str, price: float) -> AskMeter:
        """The meter of an ask of one provider; a fault where it would go beyond what a question may cost."""
        meter = AskMeter(self, provider, price)
        meter.afford()
        return meter

    def take_place(self, price: float) -> None:
        """Take the place of a request that is paid for; a fault where there is none."""
        ceilings = self.spending.ceilings
        if ceilings.calls_per_question and self.paid >= ceilings.calls_per_question:
            count = ceilings.calls_per_question
            what = f"{count} {'request' if count == 1 else 'requests'} to paid providers for one question"
            raise self._refusal(what, "SPECLOOM_MAX_CALLS_PER_QUESTION")
        due = self.bill.usd + self.bill.reserved + price
        if ceilings.usd_per_question and due > ceilings.usd_per_question + 1 / MICRO:
            raise self._refusal(f"${ceilings.usd_per_question:g} for one question", "SPECLOOM_MAX_USD_PER_QUESTION")
        self.paid += 1
        self.bill.reserved += price

    @staticmethod
    def _refusal(what: str, variable: str) -> Fault:
        sentence = f"This server sends {what} at most ({variable}), which are used up."
        return Fault("over_budget", sentence.replace("sends $", "spends $"), detail=variable, ours=True)


@dataclass(slots=True)
class AskMeter:
    """Counts the requests of one ask, each of which needs a place; what belongs together has its places before."""

    question: PaidQuestion
    provider: str
    price: float
    sent: int = 0
    usd: float = 0.0
    places: int = 0
    """Requests that may be sent without another look at the ceilings of a question."""

    def afford(self, count: int = 1, least: int = 1) -> None:
        """Have places for so many further requests, as far as there are so many, which nobody else can take.

        A fault where fewer than `least` would not go beyond what a question may cost.
        """
        while self.price and self.places < count:
            try:
                self.question.take_place(self.price)
            except Fault as fault:
                if self.places >= least:
                    break
                if not self.sent and least > 1:
                    fault = fault.told_as(message=f"{fault.message} An answer takes {least} of them.")
                raise fault from None
            self.places += 1

    async def before(self) -> None:
        """A request is about to be sent; a fault where it may not be."""
        if self.price:
            self.afford()
            await self.question.spending.hold(self.question.bill, self.price)
            self.places -= 1
            self.question.bill.reserved -= self.price
        self.sent += 1
        self._add(1, self.price)

    async def refused(self) -> None:
        """The upstream did not do what it was asked, which costs nothing; its place is for who asks again."""
        if self.price:
            await self.question.spending.give_back(self.question.bill, self.price)
            self._add(0, -self.price)
            self.places += 1
            self.question.bill.reserved += self.price

    async def settle(self, told: Any) -> None:
        """The ask has ended; `told` is what its upstream says that it cost."""
        self.question.paid -= self.places
        self.question.bill.reserved -= self.places * self.price
        self.places = 0
        if (
            self.sent
            and isinstance(told, (int, float))
            and not isinstance(told, bool)
            and math.isfinite(told)
            and told >= 0
        ):
            await self.question.spending.give_back(self.question.bill, self.usd - told)
            self._add(0, told - self.usd)

    def _add(self, requests: int, usd: float) -> None:
        self.usd += usd
        for lines in (self.question.bill.lines, self.question.spending.totals):
            line = lines.setdefault(self.provider, BillLine())
            line.requests += requests
            line.usd = max(0.0, line.usd + usd)


def read_ceilings(read: Callable[[str], Any]) -> Ceilings:
    """The ceilings that the environment sets; `read` gives the value of a variable."""
    return Ceilings(
        calls_per_question=int(read("SPECLOOM_MAX_CALLS_PER_QUESTION") or 0),
        usd_per_question=float(read("SPECLOOM_MAX_USD_PER_QUESTION") or 0),
        calls_per_day=int(read("SPECLOOM_MAX_PAID_CALLS_PER_DAY") or 0),
        usd_per_day=float(read("SPECLOOM_MAX_USD_PER_DAY") or 0),
        usd_per_session=float(read("SPECLOOM_MAX_USD_PER_SESSION") or 0),
    )


def price_of(name: str, cost: float, settings: Mapping[str, Any]) -> float:
    """What a request to a provider costs: as the operator says it, else as its file does."""
    own = settings.get(f"{name.upper()}_USD")
    return float(own) if own is not None else cost
