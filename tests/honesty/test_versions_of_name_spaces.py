"""A name space that was changed in any way has another version, and one that was only looked at has the same."""

from __future__ import annotations

import types

import pytest

from manipula.identity.versions import Versions, are_kept


def made() -> tuple[types.ModuleType, type]:
    module = types.ModuleType("somewhere")
    module.__dict__.update(gain=1.0, law=lambda q: q)
    return module, type("Law", (), {"gain": 1.0, "torque": lambda self, q: q})


@pytest.mark.skipif(not are_kept(), reason="this interpreter does not number the changes of dictionaries")
@pytest.mark.parametrize("which", [0, 1], ids=["module", "class"])
def test_every_change_is_seen(which: int) -> None:
    owner = made()[which]
    versions = Versions([owner])
    assert not versions.unchanged()  # nothing was looked at yet

    def seen_after(change: object) -> bool:
        versions.keep(versions.look())
        assert versions.unchanged()
        change()  # pyright: ignore[reportCallIssue]
        return not versions.unchanged()

    assert not seen_after(lambda: (owner.gain, dict(vars(owner)), hasattr(owner, "absent")))
    assert seen_after(lambda: setattr(owner, "gain", 2.0))
    assert seen_after(lambda: setattr(owner, "gain", 1.0))  # put back: looked at name by name, and found the same
    assert seen_after(lambda: setattr(owner, "added", None))
    assert seen_after(lambda: delattr(owner, "added"))


def test_without_versions_nothing_is_known(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("manipula.identity.versions.are_kept", lambda: False)
    versions = Versions(made())
    versions.keep(versions.look())
    assert not versions.unchanged()
