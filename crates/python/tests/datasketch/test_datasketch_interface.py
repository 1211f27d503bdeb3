"""Every public name of datasketch's classes, with its parameters, is here too."""

from __future__ import annotations

import doctest
import importlib
import inspect
import pkgutil
from typing import Any

import pytest
from datasketch_helpers import ours, theirs

CLASSES = [
    "MinHash",
    "LeanMinHash",
    "MinHashLSH",
    "MinHashLSHForest",
    "MinHashLSHEnsemble",
    "WeightedMinHash",
    "WeightedMinHashGenerator",
]

NOT_OFFERED = [
    "AsyncMinHashLSH",
    "HNSW",
    "HyperLogLog",
    "HyperLogLogPlusPlus",
    "MinHashLSHBloom",
    "bBitMinHash",
]


def public(cls: Any) -> list[str]:
    return [name for name in dir(cls) if not name.startswith("_")]


def parameters(function: Any) -> list[tuple[str, Any, Any]]:
    found = inspect.signature(function).parameters.values()
    return [(parameter.name, parameter.kind, parameter.default) for parameter in found]


def test_every_name_is_exported() -> None:
    assert set(theirs.__all__) <= set(ours.__all__)
    assert ours.__version__ == theirs.__version__


@pytest.mark.parametrize("name", CLASSES)
def test_no_public_attribute_is_missing(name: str) -> None:
    missing = set(public(getattr(theirs, name))) - set(public(getattr(ours, name)))
    assert missing == set()


@pytest.mark.parametrize("name", CLASSES)
def test_parameters_have_the_same_names_order_and_defaults(name: str) -> None:
    one, other = getattr(theirs, name), getattr(ours, name)
    assert parameters(one) == parameters(other)
    for method in public(one):
        function = getattr(one, method)
        if callable(function):
            assert parameters(function) == parameters(getattr(other, method)), method
        else:
            assert type(inspect.getattr_static(other, method)) is type(
                inspect.getattr_static(one, method)
            )


@pytest.mark.parametrize("name", ["MinHashLSHInsertionSession", "MinHashLSHDeletionSession"])
def test_sessions_have_the_same_methods(name: str) -> None:
    one = getattr(importlib.import_module("datasketch.lsh"), name)
    other = getattr(importlib.import_module("twindex.datasketch.lsh"), name)
    assert set(public(one)) <= set(public(other))
    for method in public(one):
        assert parameters(getattr(one, method)) == parameters(getattr(other, method))


@pytest.mark.parametrize(
    ("name", "arguments"),
    [
        ("MinHash", ()),
        ("MinHashLSH", ()),
        ("MinHashLSHForest", ()),
        ("MinHashLSHEnsemble", (0.9, 16, 2, 2)),
        ("WeightedMinHashGenerator", (3,)),
        ("WeightedMinHash", (1, [[1, 2]])),
    ],
)
def test_objects_have_the_attributes_of_datasketch(name: str, arguments: Any) -> None:
    one, other = getattr(theirs, name)(*arguments), getattr(ours, name)(*arguments)
    for attribute in vars(one):
        if not attribute.startswith("_"):
            assert hasattr(other, attribute), attribute


@pytest.mark.parametrize("name", NOT_OFFERED)
def test_what_is_not_offered_says_what_to_do(name: str) -> None:
    with pytest.raises(NotImplementedError, match=f"no {name}: use"):
        getattr(ours, name)(1, a=2)


def test_aliases_are_the_same_classes() -> None:
    assert ours.WeightedMinHashLSH is ours.MinHashLSH
    assert ours.WeightedMinHashLSHForest is ours.MinHashLSHForest


def modules() -> list[str]:
    path = importlib.import_module("twindex.datasketch").__path__
    return [f"twindex.datasketch.{module.name}" for module in pkgutil.iter_modules(path)]


@pytest.mark.parametrize("name", ["twindex.datasketch", *modules()])
def test_examples_run(name: str) -> None:
    assert doctest.testmod(importlib.import_module(name)).failed == 0


@pytest.mark.parametrize("name", CLASSES)
def test_everything_public_is_documented(name: str) -> None:
    cls = getattr(ours, name)
    for method in public(cls):
        if callable(getattr(cls, method)):
            assert inspect.getdoc(getattr(cls, method)), method
