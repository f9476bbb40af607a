"""The files that a verdict on a watched machine leaves for other programs, and its page."""

import re
from pathlib import Path
from xml.etree import ElementTree

from leadline.analysis.watch import DRIFT, REGRESSION
from leadline.core.record_files import replace
from leadline.report.watch import compose, table
from leadline.run.watched import FAILS, Verdict

JUNIT, METRICS, PAGE = "junit.xml", "leadline.prom", "trend.html"
_NO_XML = re.compile("[^\t\n\r\u0020-\ud7ff\ue000-\ufffd\U00010000-\U0010ffff]")


def write_files(verdict: Verdict) -> list[Path]:
    """Write the page, the JUnit XML and the OpenMetrics text into the history; returns their paths."""
    from leadline.report import render  # noqa: PLC0415

    directory = verdict.history.directory
    files = {
        JUNIT: junit(verdict),
        METRICS: metrics(verdict),
        PAGE: render.html(compose(verdict), "answers.html.j2").encode(),
    }
    for file, data in files.items():
        replace(directory / file, data)
    return [directory / file for file in files]


def junit(verdict: Verdict) -> bytes:
    """The verdict as JUnit XML: a test case for each point; what is not judged is skipped."""
    rows = table(verdict)
    suite = ElementTree.Element("testsuite", name="leadline watch", tests=str(len(rows)))
    failed = skipped = 0
    for row in rows:
        case = ElementTree.SubElement(
            suite, "testcase", classname=f"leadline.{row.get('benchmark', 'all')}", name=_clean(row["point"])
        )
        text = _clean(
            "; ".join(
                str(each) for each in (row["verdict"], row["change"], row["since"], row["reason"]) if each
            )
        )
        bad = row["verdict"] in (REGRESSION, FAILS, f"{DRIFT}, worse")
        if bad:
            failed += 1
            ElementTree.SubElement(case, "failure", message=text, type=row["verdict"])
        elif row["change_relative"] is None:
            skipped += 1
            ElementTree.SubElement(case, "skipped", message=text)
        else:
            ElementTree.SubElement(case, "system-out").text = text
    suite.set("failures", str(failed))
    suite.set("skipped", str(skipped))
    suite.set("errors", "0")
    suites = ElementTree.Element("testsuites")
    suites.append(suite)
    return bytes(ElementTree.tostring(suites, encoding="utf-8", xml_declaration=True))


def _clean(text: str) -> str:
    """A text without the characters that XML cannot have, such as a library's colours."""
    return _NO_XML.sub("?", text)


def metrics(verdict: Verdict) -> bytes:
    """The verdict as OpenMetrics text: value, change and state of each point, and of the whole."""
    from prometheus_client import CollectorRegistry, Gauge  # noqa: PLC0415
    from prometheus_client.openmetrics.exposition import generate_latest  # noqa: PLC0415

    registry = CollectorRegistry()
    names = sorted({key for point in verdict.points for key in point.names if key != "source"} | {"unit"})
    value = Gauge(
        "leadline_value", "Median of a point in the newest run, in its SI unit.", names, registry=registry
    )
    change = Gauge(
        "leadline_change_ratio", "Newest runs against the baseline, less one.", names, registry=registry
    )
    bad = Gauge(
        "leadline_regression", "1 where a point is worse than the baseline.", names, registry=registry
    )
    for point in verdict.points:
        labels = {key: str(point.names.get(key, "")) for key in names} | {"unit": point.unit}
        if (newest := point.values[-1]) is not None:
            value.labels(**labels).set(newest)
        if point.change is not None:
            change.labels(**labels).set(point.change[0])
        bad.labels(**labels).set(float(point.finding.bad or point.finding.verdict == FAILS))
    for title, says, number in (
        ("leadline_watch_bad", "1 where a point, or all together, is worse than the baseline.", verdict.bad),
        ("leadline_watch_learning", "1 while the baseline has too few runs.", verdict.learning),
        ("leadline_watch_runs", "Runs since the baseline began.", len(verdict.history.runs)),
        ("leadline_watch_set_aside", "Runs that could not be used.", len(verdict.history.aside)),
    ):
        Gauge(title, says, registry=registry).set(float(number))
    if date := verdict.history.runs[-1].date:
        Gauge("leadline_watch_newest_timestamp_seconds", "When the newest run began.", registry=registry).set(
            date.timestamp()
        )
    return bytes(generate_latest(registry))  # type: ignore[no-untyped-call]
