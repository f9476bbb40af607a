"""The page of a tuning of input and output: the default against the best, what mattered, and what was set."""

from collections.abc import Sequence

from leadline.core.formatting import ratio_text
from leadline.core.record import Row
from leadline.core.units import MISSING, format_quantity
from leadline.report.answers import Answers, Section, Table
from leadline.report.figures import Figure
from leadline.report.origin import origins
from leadline.report.page import Count, plot
from leadline.report.plots.canvas import canvas
from leadline.tune.io import files as io_files
from leadline.tune.io.analysis import FASTER, SLOWER, Gain
from leadline.tune.io.results import Ablation, Results, Trial

_ROW = 34  # px of a row of a figure
_SHOWN = 12  # parameters of the importance


_NOTE = (
    "Numbers in brackets are intervals of 95 %, where nothing else is said, over pairs of runs that were "
    "neighbours in time; an interval that holds 1 shows no gain."
)


def compose(found: Results, name: str) -> Answers:
    """The page of a tuning called `name`."""
    sections = [_compared(found), _convergence(found), _mattered(found), _settings(found)]
    facts = {key: value for key, value in found.facts.items() if key != "job"}
    return Answers(
        title=f"Settings of input and output for {found.facts['title']}",
        subtitles=[f"{found.runs} runs, {len(found.trials)} settings tried, searched by {_method(found)}"],
        verdict=[verdict(found)],
        counts=_counts(found),
        sections=[each for each in sections if each is not None],
        origins=origins([{"run": name, **facts}]),
        note=_NOTE,
    )


def _method(found: Results) -> str:
    return str(found.facts.get("options", {}).get("method", "no method"))


def told(gain: Gain) -> str:
    """A speed-up with its interval."""
    if gain.low == gain.high:
        return f"{gain.speedup:.3g} times"
    return _ratio(gain.speedup, gain.low, gain.high, gain.confidence) + " times"


def _ratio(value: float, low: float, high: float, confidence: float) -> str:
    return ratio_text(value, low, high, confidence=confidence, form=".3g")


def verdict(found: Results) -> str:
    """The answer in two sentences."""
    resolved = ""
    if found.noise and found.noise.apparent and found.noise.resolution is not None:
        value, interval, _ = found.noise.apparent
        resolved = (
            f" This machine can resolve a gain of {found.noise.resolution:.1%} in {_pairs(found)} pairs of "
            f"runs; the default against itself seems {_ratio(value, *interval)} times as long."
        )
    if found.gain is None:
        return f"{found.verdict[0].upper()}{found.verdict[1:]}.{resolved}"
    if found.doubt:
        return (
            f"Not confirmed: the final comparison gave {told(found.gain)} as fast, but {found.doubt}; "
            f"so no gain is claimed.{resolved}"
        )
    if found.gain.verdict == FASTER:
        return f"The settings found make it {told(found.gain)} as fast as the default.{resolved}"
    if found.gain.verdict == SLOWER:
        return (
            "No gain, and the best of the trials is certainly slower: "
            f"{told(found.gain)} as fast as the default.{resolved}"
        )
    return f"{found.gain.verdict.capitalize()}: {told(found.gain)} as fast as the default.{resolved}"


def _objective(found: Results, cost: float) -> str:
    """What is made small or large, as a person reads it: a time, or a rate in the program's own unit."""
    return f"{1 / cost:.4g}, as printed" if found.rate else format_quantity(cost, "s")


def _pairs(found: Results) -> int:
    return found.gain.pairs if found.gain else int(found.facts.get("options", {}).get("pairs", 0))


def _counts(found: Results) -> list[Count]:
    failed = sum(each.reason is not None for each in found.trials)
    noise = found.noise
    resolution = noise.resolution if noise else None
    return [
        Count("default", _objective(found, noise.median) if noise else MISSING),
        Count("speed-up", told(found.gain) if found.gain else MISSING),
        Count("verdict", found.verdict),
        Count("gain that can be seen", MISSING if resolution is None else f"{resolution:.1%}"),
        Count("trials", str(len(found.trials))),
        Count("of them failed", str(failed), bad=failed > 0),
        Count("settings without effect", f"{len(found.idle)} of {len(found.looked_at)}"),
        *_software(found),
    ]


def _software(found: Results) -> list[Count]:
    """The versions of HDF5 and MPI, and the file system that was written to, as far as they are known."""
    seen = found.access_pattern or {}
    storage = found.facts.get("storage") or {}
    rows = {
        "HDF5": seen.get("hdf5"),
        "MPI": (found.facts.get("job") or {}).get("mpi") or seen.get("mpi"),
        "file system": f"{storage['type']} at {storage['mount']}" if storage else None,
    }
    return [Count(name, str(value)) for name, value in rows.items() if value]


def _compared(found: Results) -> Section | None:
    """Tuned against default, and partial tuning."""
    if not found.parts and found.gain is None:
        return None
    parts = found.parts
    shown = [each for each in parts if each.gain]
    rows = [
        {"r": each.name, "y": each.gain.speedup, "lo": each.gain.low, "hi": each.gain.high}
        for each in shown
        if each.gain
    ]
    table = Table(
        "Partial tuning", ["what is set", "speed-up, 95 %", "verdict", "settings"], [_part(p) for p in parts]
    )
    figure = _dots("parts", "Speed-up over the default, run in turns", "times as fast as the default", rows)
    says = (
        "Each layer's settings alone, and all but it, in turns with the default and with the whole. Bars are "
        "intervals of the median of the pairs by ranks, of 95 % or what so many pairs reach."
    )
    if found.gain:
        says += f" The final comparison, of {found.gain.pairs} pairs of its own: {told(found.gain)} as fast."
    return Section("Tuned against default", "compared", says, [plot(figure)] if rows else [], table)


def _part(part: Ablation) -> list[str]:
    gain = part.gain
    verdict = gain.verdict if gain else f"failed: {part.reason}"
    return [part.name, told(gain) if gain else MISSING, verdict, io_files.shown(part.settings)]


def _dots(name: str, title: str, axis: str, rows: Sequence[Row]) -> Figure:
    """Values with intervals, a row each; a line at 1."""
    values = [each[key] for each in rows for key in ("lo", "hi")]
    wide = bool(values) and max(values) > 5 * min(values)
    x = {"type": "quantitative", "title": axis, "scale": {"type": "log" if wide else "linear", "zero": False}}
    y = {
        "field": "r",
        "type": "nominal",
        "sort": None,
        "title": None,
        "axis": {"labelLimit": 260, "grid": False, "ticks": False, "domain": False},
    }
    tooltip = [{"field": key, "type": "quantitative", "format": ".3~g"} for key in ("y", "lo", "hi")]
    spec = {
        **canvas(title, max(80, _ROW * len(rows))),
        "data": {"values": list(rows)},
        "layer": [
            {"mark": {"type": "rule", "color": "var(--line)"}, "encoding": {"x": {"datum": 1}}},
            {
                "mark": {"type": "rule", "strokeWidth": 5, "opacity": 0.3, "color": "var(--s0)"},
                "encoding": {"x": {**x, "field": "lo"}, "x2": {"field": "hi"}, "y": y},
            },
            {
                "mark": {"type": "point", "filled": True, "size": 60, "opacity": 1, "color": "var(--s0)"},
                "encoding": {"x": {**x, "field": "y"}, "y": y, "tooltip": tooltip},
            },
        ],
    }
    return Figure(name, title, spec)


def _convergence(found: Results) -> Section | None:
    """How the search went."""
    good = [each for each in found.trials if each.score is not None]
    if not good or not found.noise:
        return None
    points, best = [], found.noise.median

    def shown(cost: float) -> float:
        return 1 / cost if found.rate else cost

    for each in good:
        score = each.score or 0.0
        best = min(best, score)
        settings = io_files.shown(each.settings)
        points.append({"n": each.number, "y": shown(score), "b": shown(best), "s": settings})
    what, axis = ("Rate", "rate, as printed") if found.rate else ("Time", "time (s)")
    title = f"{what} of each trial, and the best so far"
    y = {"type": "quantitative", "title": axis, "scale": {"type": "log"}}
    x = {"field": "n", "type": "quantitative", "title": "trial"}
    tooltip = [
        {"field": "n", "title": "trial"},
        {"field": "y", "title": axis, "format": ".3~g"},
        {"field": "s", "title": "settings"},
    ]
    spec = {
        **canvas(title),
        "data": {"values": points},
        "layer": [
            {
                "mark": {"type": "rule", "strokeDash": [6, 4], "color": "var(--s1)"},
                "encoding": {"y": {**y, "datum": shown(found.noise.median)}},
            },
            {
                "mark": {"type": "line", "interpolate": "step-after", "color": "var(--s0)"},
                "encoding": {"x": x, "y": {**y, "field": "b"}},
            },
            {
                "mark": {"type": "point", "filled": True, "size": 45, "opacity": 0.8, "color": "var(--s0)"},
                "encoding": {"x": x, "y": {**y, "field": "y"}, "tooltip": tooltip},
            },
        ],
    }
    figure = Figure("convergence", title, spec, "The dashed line is the default's median.")
    rows = [_trial(found, each) for each in found.trials]
    table = Table("Trials", ["trial", what.lower(), "runs", "settings"], rows)
    says = "Trials that cannot win are given up after one run; those that fail are left out of the figure."
    return Section("The search", "convergence", says, [plot(figure)], table)


def _trial(found: Results, trial: Trial) -> list[str]:
    time = _objective(found, trial.score) if trial.score is not None else f"failed: {trial.reason}"
    return [str(trial.number), time, str(len(trial.seconds)), io_files.shown(trial.settings)]


def _mattered(found: Results) -> Section | None:
    """The importance of each parameter, and what has no effect at all."""
    if not found.weights and not found.idle:
        return None
    rows = [{"r": each.name, "y": each.share} for each in found.weights[:_SHOWN]]
    title = "Share of the differences between trials that goes with each parameter"
    spec = {
        **canvas(title, max(80, _ROW * len(rows))),
        "data": {"values": rows},
        "mark": {"type": "bar", "color": "var(--s0)"},
        "encoding": {
            "x": {
                "field": "y",
                "type": "quantitative",
                "title": "share of variance",
                "axis": {"format": ".0%"},
            },
            "y": {"field": "r", "type": "nominal", "sort": None, "title": None, "axis": {"labelLimit": 260}},
            "tooltip": [{"field": "r"}, {"field": "y", "format": ".1%"}],
        },
    }
    says = (
        "Adjusted for the number of values, as in an analysis of variance; the search chose the trials, so "
        "this is a hint and no test."
    )
    if found.idle:
        idle = ", ".join(found.idle)
        says += f" Without any effect on what is done to files, so left out of the search: {idle}."
    chosen = found.best or {}
    table = Table(
        "Importance",
        ["parameter", "share", "value found", "values tried"],
        [
            *(
                [w.name, f"{w.share:.1%}", str(chosen.get(w.name, "not set")), str(w.values)]
                for w in found.weights
            ),
            [
                "interactions and noise",
                f"{max(0.0, 1 - sum(w.share for w in found.weights)):.1%}",
                MISSING,
                MISSING,
            ],
        ],
    )
    figures = [plot(Figure("importance", title, spec))] if rows else []
    return Section("What mattered", "importance", says, figures, table)


def _settings(found: Results) -> Section | None:
    """The settings found, in the form that the preloaded library reads; what was best where it is no gain."""
    if found.best is None:
        return None
    text = found.settings_file
    if text is None:
        says = (
            f"No gain is certain, so no file of settings is written. The best: {io_files.shown(found.best)}."
        )
    elif not text:
        says = f"Variables of the environment alone: {io_files.shown(found.best)}."
    else:
        says = (
            "The file for the preloaded library; a tuning that has ended has it, and the forms that do "
            "without it, in its directory."
        )
    return Section("The settings found", "settings", says, [], None, text or "")
