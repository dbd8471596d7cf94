"""Learners from specifications."""

import pytest
from sklearn.ensemble import RandomForestClassifier, VotingClassifier
from sklearn.naive_bayes import GaussianNB
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.svm import SVC

from bestofk._base.errors import ArgumentError, UnknownNameError
from bestofk.learners import named_learners, parse_learner


@pytest.mark.parametrize(
    ("text", "name", "shown"),
    [
        ("max", "max", "Majority()"),
        (" nmc ", "nmc", "NearestMean()"),
        ("nmc()", "nmc()", "NearestMean()"),
        ("nmc(scale='range')", "nmc(scale='range')", "NearestMean(scale='range')"),
        ("mean = nmc(scale='range')", "mean", "NearestMean(scale='range')"),
        ("a=logistic(C=0.5)", "a", "Logistic(C=0.5)"),
        ("sklearn.svm:SVC", "SVC", "SVC()"),
        (
            "sklearn.ensemble:RandomForestClassifier(n_estimators=200)",
            "RandomForestClassifier(n_estimators=200)",
            "RandomForestClassifier(n_estimators=200)",
        ),
        ("s=sklearn.svm:SVC(C=2e1, gamma='auto', class_weight={'a': 1, -1: -2})", "s", None),
    ],
)
def test_descriptions(text: str, name: str, shown: str | None) -> None:
    learners, estimator = parse_learner(text)
    assert learners == name
    if shown is None:
        assert estimator.get_params()["class_weight"] == {"a": 1, -1: -2}
        assert estimator.C == 20.0
    else:
        assert repr(estimator) == shown


@pytest.mark.parametrize(
    ("text", "sentence"),
    [
        ("", "described by text such as"),
        ("nmc(", "name or an import path"),
        ("nmc(scale=)", "must be written as name=value"),
        ("nmc('std')", "must be written as name=value; got \"'std'\""),
        ("nmc(**{'scale': 'std'})", "must be a literal"),
        ("nmc(scale=print('x'))", "must be a literal"),
        ("nmc(scale=__import__('os').getcwd())", "must be a literal"),
        ("nmc(scale='std')(1)", "must be written as name=value"),
        ("nmc(scale='a') or f(b=1)", "must be written as name=value"),
        ("sklearn.svm:SVC(D=1)", "cannot be created"),
        ("sklearn.nothing:SVC", "there is no module 'sklearn.nothing'"),
        ("sklearn.svm.SVC", "write a colon before its name: 'sklearn.svm:SVC'"),
        (
            "models.py",
            "is a Python file: name the class or estimator in it, as in './models.py:NAME'",
        ),
        ("sklearn.svm:", "must name a module and a class"),
        ("os; import sys:f", "must name a module and a class"),
        ("os:sep", "standard library"),
        ("sklearn.preprocessing:StandardScaler", "has no predict"),
        ("collections:OrderedDict", "standard library"),
        ("numpy:ndarray", "has no fit, so bestofk does not call it"),
        ("numpy:pi", "has no fit"),
        ("numpy:load(file='x')", "is a function, so bestofk does not call it"),
        ("=nmc", "label=specification"),
        ("nmc(scale=1, scale=2)", "'scale' must be given once"),
    ],
)
def test_invalid_specifications_are_refused(text: str, sentence: str) -> None:
    with pytest.raises(ArgumentError) as caught:
        parse_learner(text)
    assert sentence in str(caught.value)
    assert "\n" not in str(caught.value)


def test_near_names_are_offered() -> None:
    with pytest.raises(UnknownNameError, match="did you mean 'logistic'"):
        parse_learner("logstic")
    with pytest.raises(UnknownNameError, match="RandomForestClassifier"):
        parse_learner("sklearn.ensemble:RandomForrestClassifier")


def test_lists_and_mappings_of_learners() -> None:
    forest = RandomForestClassifier()
    learners = named_learners(["max", forest, "f=nmc"])
    assert list(learners) == ["max", "RandomForestClassifier", "f"]
    assert learners["RandomForestClassifier"] is forest
    learners = named_learners({"first": "max", "second": SVC()})
    assert list(learners) == ["first", "second"]
    assert list(named_learners([SVC(), SVC(C=2)])) == ["SVC(C=1.0)", "SVC(C=2)"]
    with pytest.raises(ArgumentError, match="Two learners are called 'max'"):
        named_learners(["max", "max"])
    assert list(named_learners("max, nmc(scale='std')")) == ["max", "nmc(scale='std')"]
    with pytest.raises(ArgumentError, match="at least one learner"):
        named_learners([])
    assert repr(named_learners({"x": SVC})) == "{'x': SVC()}"
    with pytest.raises(ArgumentError, match=r"learner 'x': VotingClassifier cannot be created .*"):
        named_learners({"x": VotingClassifier})


@pytest.mark.parametrize(
    ("learners", "names"),
    [
        ([make_pipeline(StandardScaler(), SVC()), "max"], ["SVC", "max"]),
        ([make_pipeline(SVC(C=1)), make_pipeline(SVC(C=2))], ["SVC(C=1)", "SVC(C=2)"]),
        ([SVC(), make_pipeline(StandardScaler(), SVC())], ["SVC", "StandardScaler+SVC"]),
        ([SVC(), SVC()], ["SVC 1", "SVC 2"]),
        ("make_pipeline(StandardScaler(), SVC(C=10)),nmc", ["SVC", "nmc"]),
        ("SVC(C=1),make_pipeline(StandardScaler(), SVC())", ["SVC(C=1)", "StandardScaler+SVC"]),
        ("svm=make_pipeline(StandardScaler(), SVC(C=10)),nmc", ["svm", "nmc"]),
        (["SVC", make_pipeline(StandardScaler(), SVC())], ["SVC", "StandardScaler+SVC"]),
        ([make_pipeline("passthrough", SVC()), GaussianNB()], ["SVC", "GaussianNB"]),
    ],
)
def test_a_pipeline_is_named_after_its_last_step(learners, names) -> None:
    assert list(named_learners(learners)) == names
