"""Reports: three answers, data, counterexamples that can be run again, pages, copies."""

from __future__ import annotations

import copy
import json
import pickle

import numpy as np
import pytest
import warpproof as wp

from test_commands import ARGUMENTS

SMALL = {"x": wp.f32(1, 2), "y": wp.out(1, 2), "columns": 2}


@pytest.fixture
def race(example):
    return wp.ptx(example("racy.ptx"))[4, 64].check(**ARGUMENTS)


@pytest.fixture
def difference(example):
    return wp.equiv(wp.ptx(example("softmax.ptx"))[1, 1], wp.ptx(example("broken.ptx"))[1, 2], **SMALL)


def test_a_report_is_neither_true_nor_false(race):
    with pytest.raises(TypeError, match="three answers"):
        bool(race)


def test_the_text_is_that_of_the_command_line(race, program, example):
    assert repr(race) == race.text()
    assert race.text().startswith("error[WP0109]: race on")
    assert "refuted: races" in race.text()
    # Source lines are in the text only if the source is available, as it is for the path.
    assert json.loads(race.json()) == race.data


def test_the_page_has_the_finding(race):
    assert race.html().startswith("<!DOCTYPE html>")
    assert "a write and a read that nothing orders" in race.html()
    small = race._repr_html_()
    assert "refuted" in small and "WP0109" in small and "a write and a read that nothing orders" in small
    assert "<script" not in small and "<!DOCTYPE" not in small


def test_copies_are_the_same(race, difference):
    for report in (race, difference):
        for twin in (pickle.loads(pickle.dumps(report)), copy.deepcopy(report)):
            assert twin == report and hash(twin) == hash(report)
            assert twin.text() == report.text() and twin.html() == report.html()
            assert twin.findings == report.findings
    twin = pickle.loads(pickle.dumps(difference))
    assert np.array_equal(twin.counterexample.inputs["x"], difference.counterexample.inputs["x"])


def test_exceptions_are_asked_for(race, difference, example):
    with pytest.raises(wp.Refuted, match="race on") as raised:
        race.raise_if_refuted()
    assert raised.value.report is race
    assert pickle.loads(pickle.dumps(raised.value)).report == race
    proved = wp.ptx(example("online.ptx"))[4, 64].check(**ARGUMENTS)
    assert proved.raise_if_refuted() is proved and proved.raise_unless_proved() is proved
    open_ = wp.ptx(example("online.ptx"))[4, 64].check(**ARGUMENTS, max_instructions=10)
    assert open_.raise_if_refuted() is open_
    with pytest.raises(wp.NotProved):
        open_.raise_unless_proved()


def test_a_counterexample_is_arrays_and_runs_again(difference):
    found = difference.counterexample
    assert found.element == ("y", (0, 0)) and found.confirmed
    x = found.inputs["x"]
    assert x.shape == (1, 2) and x.dtype == np.float32
    assert found.reference == pytest.approx((np.exp(x) / np.exp(x).sum())[0, 0])
    assert abs(found.got - found.reference) > 1e-3
    assert found.expressions[0] == "exp(x[0,0])/(exp(x[0,0]) + exp(x[0,1]))"
    assert [one.file for one in found.locations] == ["kernel.ptx", "reference.ptx"]
    again = found.replay()
    assert again.finished and again["y"][found.element[1]] == pytest.approx(found.got, rel=1e-6)


def test_a_counterexample_of_arguments_that_are_texts(example):
    reference, kernel = wp.ptx(example("softmax.ptx")), wp.ptx(example("broken.ptx"))
    report = wp.equiv(reference[1, 1], kernel[1, 2], x="f32[1,2]", y="f32[1,2]:out", columns="2")
    assert report.counterexample.inputs["x"].shape == (1, 2)
    assert report.counterexample.replay()["y"].shape == (1, 2)


def test_a_proof_has_no_counterexample(example):
    report = wp.equiv(wp.ptx(example("softmax.ptx"))[1, 1], wp.ptx(example("online.ptx"))[1, 2], **SMALL)
    assert report.proved and report.counterexample is None and report.stopped is None
    assert report.stats["thread_instructions"] > 0
