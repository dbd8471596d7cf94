"""Different names stay different when they are shortened, in every figure."""

import pytest
from hypothesis import example, given, strategies as st

import bestofk as bk
from bestofk.report.figures import FIGURES
from bestofk.report.figures.labels import labels_of, text_width
from bestofk.report.figures.picture import Sheet
from bestofk.report.figures.style import paper_of

MIDDLE = [f"{'x' * 150}{k:02d}{'y' * 150}" for k in range(20)]
FORESTS = [f"RandomForestClassifier(n_estimators={k}00, max_depth=3)" for k in range(1, 21)]
GRID = [f"sklearn.svm.SVC(C={c}, gamma={g}, kernel='rbf')" for c in (1, 10, 100) for g in (1, 2, 3)]

ALIKE = st.from_regex(r"[ab]{1,3}(x{30}|y)[ab]{1,3}\(n=[0-9]{1,3}\)", fullmatch=True)


@given(
    st.lists(st.text(max_size=60) | ALIKE, min_size=2, max_size=12, unique=True),
    st.floats(45, 250),
)
@example(MIDDLE, 45.0)
@example(["a\n", "a", " a", "a\u202e", "a\ufffd", "(no name)", "", " "], 45.0)
def test_different_names_have_different_labels_that_fit(names, width):
    labels = labels_of(names, width, 9)
    assert len(set(labels)) == len(names)
    for label in labels:
        assert "\n" not in label
        assert text_width(label, 9) <= width + 1e-9


def test_what_differs_is_kept_and_the_modules_go():
    cut = labels_of(FORESTS, 100, 9)
    assert all(f"{k}00" in label for k, label in enumerate(cut, start=1))
    assert not any("(" in label and label.endswith(")") and " (" in label for label in cut)
    for (c, g), label in zip(
        ((c, g) for c in (1, 10, 100) for g in (1, 2, 3)), labels_of(GRID, 100, 9), strict=True
    ):
        assert label.startswith("SVC")
        assert f"{c}" in label
        assert f"{g}" in label
    models = ["llama-3-8b-instruct", "llama-3-70b-instruct"]
    assert labels_of(models, 80, 9) == ("llama-…8b-…", "llama-…70b-…")
    # names that fit stay as they are, modules and all
    assert labels_of(["sklearn.svm.SVC", "nn"], 200, 9) == ("sklearn.svm.SVC", "nn")
    # keep the module if only the module differs
    assert labels_of(["a.deeper.Net", "b.deeper.Net"], 45, 9) == ("a.de…Net", "b.de…Net")


@pytest.mark.parametrize("kind", [kind for kind in FIGURES if kind not in ("difference", "gate")])
@pytest.mark.parametrize("names", [MIDDLE, FORESTS], ids=["middle", "forests"])
def test_every_figure_on_narrow_paper_keeps_names_apart(renamed_examples, kind, names, monkeypatch):
    value = renamed_examples(tuple(names))[kind]
    calls = []
    shorten = Sheet.labels

    def labels(self, *arguments):
        calls.append(shorten(self, *arguments))
        return calls[-1]

    monkeypatch.setattr(Sheet, "labels", labels)
    picture = FIGURES[kind].layout(value, paper=paper_of(width=3.3))
    written = {words.text for words in picture.words}
    assert all(len(set(labels)) == len(labels) for labels in calls)
    # A label in the title of an axis is no text of its own.
    assert any(len(labels) > 1 and len(set(labels) - written) <= 1 for labels in calls)


def test_two_names_that_are_equal_texts_are_numbered():
    losses = bk.Scores([[0.1, 0.2, 0.3], [0.2, 0.1, 0.3]], learners=["a\tb", "a b"])
    words = {words.text for words in FIGURES["losses"].layout(losses).words}
    assert {"a b (1)", "a b (2)"} <= words
