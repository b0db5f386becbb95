"""Programs made at random, as graphs are made of them: what each gives, whoever answers when."""

import random
import zlib
from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace

ALIKE = "Which?"  # a run about this asks all its questions in these words


@dataclass(frozen=True, slots=True)
class Step:
    """It asks, calls a graph, a task or a tool, if it does, so many `times` and at once, and asks `more`.

    `how`: it is that graph ("node"), calls it ("ainvoke", "invoke"), or calls "tasks" or two or more "tools".
    `remembers`: its graph has one history for a whole thread. `deferred`: it waits until all else has ended.
    `failing`: it fails the first time that it has got that far; if it is `retried`, it tries again at once.
    `mended`: it always fails then, and its error handler asks so much. `held`: where a breakpoint is, if the
    graph of the step is not called: "before" or "after" it.
    """

    name: str
    asks: int = 0
    more: int = 0
    inner: "Program | None" = None
    how: str = "node"
    is_async: bool = False
    failing: bool = False
    retried: bool = False
    mended: int = 0
    times: int = 1
    held: str = ""
    remembers: bool = False
    deferred: bool = False


@dataclass(frozen=True, slots=True)
class Layer:
    """What runs at the same time: all steps, those that a function chooses, or one several times."""

    kind: str  # "all", "chosen", "sent"
    steps: tuple[Step, ...]
    asks: int = 0
    failing: bool = False


@dataclass(frozen=True, slots=True)
class Program:
    layers: tuple[Layer, ...]

    @property
    def can_fail(self) -> bool:
        return any(
            layer.failing
            or any(
                (step.failing and not step.retried) or (step.inner is not None and step.inner.can_fail)
                for step in layer.steps
            )
            for layer in self.layers
        )

    def held(self, where: str) -> list[str]:
        """The steps before which, or after which, a breakpoint is."""
        return [step.name for layer in self.layers for step in layer.steps if step.held == where]

    @property
    def gives_up(self) -> bool:
        """Whether an error handler may take over while its step still asks."""
        return any(
            step.inner is not None and (step.inner.gives_up or (bool(step.mended) and step.inner.can_fail))
            for layer in self.layers
            for step in layer.steps
        )

    @property
    def mends(self) -> bool:
        """Whether one of its steps has an error handler that is needed."""
        steps = (step for layer in self.layers for step in layer.steps)
        return any(step.mended or (step.inner is not None and step.inner.mends) for step in steps)


def program(rnd: random.Random, path: str = "", depth: int = 2, threads: bool = False) -> Program:
    """`threads`: what a sync step runs has sync steps only."""
    return Program(
        tuple(_layer(rnd, f"{path}{number}", depth, threads) for number in range(rnd.randint(1, 3)))
    )


def _layer(rnd: random.Random, path: str, depth: int, threads: bool) -> Layer:
    kind = rnd.choice(("all", "all", "chosen", "sent"))
    count = 1 if kind == "sent" else rnd.randint(1, 3)
    steps = tuple(
        _step(rnd, f"{path}{'abc'[number]}", depth, threads, kind != "all") for number in range(count)
    )
    chosen = kind != "all"
    return Layer(kind, steps, rnd.choice((0, 1, 2)) if chosen else 0, chosen and rnd.random() < 0.2)


def _step(rnd: random.Random, name: str, depth: int, threads: bool, can_be_mended: bool) -> Step:
    how = rnd.choice(("node", "invoke") if threads else ("node", "ainvoke", "invoke"))
    inner = None
    if depth and rnd.random() < 0.35:
        inner = program(rnd, f"{name}.", depth - 1, threads or how == "invoke")
    failing = rnd.random() < 0.2
    held = rnd.choice(("before", "after")) if rnd.random() < 0.1 else ""
    if inner and how == "node":
        return Step(name, inner=inner, held=held)
    is_async = how == "ainvoke" if inner or threads else rnd.random() < 0.5
    if inner is None:
        how = rnd.choice(("", "tasks", "tools"))
    mended = 0 if failing or not can_be_mended or rnd.random() < 0.8 else rnd.randint(1, 2)
    times = rnd.choice((1, 2)) if how == "ainvoke" else rnd.randint(1 + (how == "tools"), 3)
    return Step(
        name, rnd.choice((0, 1, 1, 2)), rnd.choice((0, 0, 1)), inner, how, is_async, failing,
        failing and rnd.random() < 0.5, mended, times, held,
    )  # fmt: skip


# -- what comes of it


def told(question: str) -> str:
    """The answer to this."""
    return f"to {question}"


def expected(graph: Program, topic: str = "", answer: Callable[[str], str] = told) -> Iterator[str]:
    """What its steps give, if each answer reaches its question."""
    for layer in graph.layers:
        for step, about in _running(layer, topic):
            if step.mended:
                yield _line(f"{step.name}!", about, step.mended, answer)
            else:
                yield from _given(step, about, answer)


def _given(step: Step, topic: str, answer: Callable[[str], str]) -> Iterator[str]:
    if step.inner and step.how == "node":
        yield from expected(step.inner, topic, answer)
        return
    for each in range(step.times):
        if step.inner:
            yield from expected(step.inner, f"{topic}/{each}", answer)
        if step.how in ("tasks", "tools"):
            yield _line(f"{step.name}.", f"{topic}/{each}", 1, answer)
    yield _line(step.name, topic, step.asks + step.more, answer)


def _running(layer: Layer, topic: str) -> Iterator[tuple[Step, str]]:
    if layer.kind == "sent":
        yield from ((layer.steps[0], f"{topic}/{each}") for each in range(2))
    elif layer.kind == "chosen":
        yield from ((layer.steps[each], topic) for each in chosen(layer, topic))
    else:
        yield from ((step, topic) for step in layer.steps)


def chosen(layer: Layer, topic: str) -> list[int]:
    """Those whose bit is set in a number that comes from the answers, or all."""
    said = "".join(told(question) for question in questions(f"{layer.steps[0].name}?", layer.asks, topic))
    bits = zlib.crc32(said.encode())
    return [each for each in range(len(layer.steps)) if bits >> each & 1] or [*range(len(layer.steps))]


def questions(name: str, count: int, topic: str, since: int = 0) -> list[str]:
    return [f"{name}{topic} number {each}?" for each in range(since, since + count)]


def _line(name: str, topic: str, asks: int, answer: Callable[[str], str]) -> str:
    return f"{name}{topic}: " + ", ".join(map(answer, questions(name, asks, topic)))


def heard(lines: list[str]) -> dict[str, str]:
    """The answer to each question, as the graph's steps had it, however often they asked."""
    found = dict[str, str]()
    for line in lines:
        if line.startswith("heard: "):
            question, answer = line.removeprefix("heard: ").split("\t")
            assert found.setdefault(question, answer) == answer, f"{question} has two answers"
    return found


def of_size(seed: int, most: int) -> Program:
    """One in which at most about so much happens, always the same for a seed."""
    rnd = random.Random(seed)  # noqa: S311 (no secret)
    while _size(found := program(rnd)) > most:
        pass
    return _with_more(found, rnd)


def _with_more(found: Program, rnd: random.Random, once: bool = True) -> Program:
    """The same, where some graphs remember and some steps are deferred.

    `once`: it never runs twice at the same time, as LangGraph requires of what remembers.
    """

    def more(layer: Layer, step: Step) -> Step:
        is_once = once and layer.kind != "sent" and step.times == 1
        remembers = is_once and bool(step.inner) and rnd.random() < 0.4
        inner = _with_more(step.inner, rnd, is_once) if step.inner else None
        deferred = layer.kind == "all" and rnd.random() < 0.2  # elsewhere its gate would open twice
        return replace(step, inner=inner, remembers=remembers, deferred=deferred)

    layers = (
        replace(layer, steps=tuple(more(layer, step) for step in layer.steps)) for layer in found.layers
    )
    return Program(tuple(layers))


def on_a_server(found: Program) -> Program:
    """Without what a LangGraph server cannot tell apart: calls, error handlers, failures between steps."""
    return Program(
        tuple(
            replace(layer, steps=tuple(map(_on_a_server, layer.steps)), failing=False)
            for layer in found.layers
        )
    )


def _on_a_server(step: Step) -> Step:
    plain = replace(step, how="", mended=0, times=1)
    if step.inner is None:
        return plain
    return replace(plain, inner=on_a_server(step.inner), how="node", asks=0, more=0, failing=False)


def _size(found: Program) -> int:
    return sum(
        1
        + layer.asks
        + sum(1 + step.asks + step.more + step.mended + step.times * _inside(step) for step in layer.steps)
        for layer in found.layers
    )


def _inside(step: Step) -> int:
    return 1 + (_size(step.inner) if step.inner else 0)
