"""Small robots with a coupled joint, as TOML: two links in a row, and a hand with two fingers."""

from manipula.formats.toml import from_toml
from manipula.robot.robot import Robot


def pair(words: str, *, kind: str = "revolute", leader: str = "", inertia: str = "") -> str:
    """Joint ``a`` from base to one, joint ``b`` from there to two; ``words`` are lines of b, ``leader`` of a, ``inertia`` of both links."""
    body = f"mass = 1.0\ncom = [0.1, 0, 0]\n{inertia}\n"
    return (
        'name = "pair"\n[[link]]\nname = "base"\n'
        f'[[joint]]\nname = "a"\ntype = "revolute"\nparent = "base"\nchild = "one"\n{leader}\n[[link]]\nname = "one"\n{body}'
        f'[[joint]]\nname = "b"\ntype = "{kind}"\nparent = "one"\nchild = "two"\norigin = {{ xyz = [0.2, 0, 0] }}\n{words}\n'
        f'[[link]]\nname = "two"\n{body}'
    )


def follower_of_a(words: str, kind: str = "revolute") -> Robot:
    """The robot of ``pair`` in which b follows a, with moments of inertia."""
    return from_toml(pair(f'follows = "a"\n{words}', kind=kind, inertia="inertia = [0.01, 0.02, 0.03]"))


def hand(words: str = 'follows = "f1"') -> str:
    """Fingers ``f1`` (0 … 0.05 m) and ``f2`` (0 … 0.04 m) on one base; ``words`` are lines of f2."""
    return 'name = "hand"\n[[link]]\nname = "base"\n' + "".join(
        f'[[link]]\nname = "{link}"\nmass = 0.5\ncom = [0.1, 0, 0]\ninertia = [0.01, 0.01, 0.01]\n[[joint]]\nname = "{joint}"\n'
        f'type = "prismatic"\nparent = "base"\nchild = "{link}"\naxis = {axis}\nlimits = {{ lower = 0.0, upper = {upper} }}\n'
        f'friction = {{ law = "viscous", damping = {damping} }}\n{more}\n'
        for link, joint, axis, upper, damping, more in [
            ("left", "f1", "[0, 1, 0]", 0.05, 2.0, ""),
            ("right", "f2", "[0, -1, 0]", 0.04, 3.0, words),
        ]
    )
