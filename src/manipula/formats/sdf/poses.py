"""The frames of one SDF model: each stands in another one, at the end of every chain is the model's own frame."""

from __future__ import annotations

from manipula.algebra.pose import IDENTITY, Pose
from manipula.errors import DescriptionError, printable, unknown_name
from manipula.formats.sdf.values import pose_of
from manipula.formats.xml.reader import Element
from manipula.lazy import cached_property

MODEL = "__model__"
Node = tuple[str, str]  # ("link", "arm"): links, joints and frames may share a name in old files
ROOT: Node = ("model", MODEL)


class Poses:
    """X of every link, joint and frame in the frame that its ``<pose>`` names."""

    def __init__(self) -> None:
        self.stated: dict[Node, tuple[str | Node, Pose, Element]] = {}

    def add(self, kind: str, name: str, element: Element, default: str | Node) -> None:
        """A link, joint or frame; without ``relative_to`` it stands in ``default``."""
        pose = element.one("pose")
        reference = default if pose is None else pose.attributes.get("relative_to") or default
        self.stated[kind, name] = (reference, pose_of(pose), element if pose is None else pose)

    def node(self, name: str | Node, where: Element) -> Node:
        """The link, joint or frame of that name."""
        if isinstance(name, tuple):
            return name
        if name == MODEL:
            return ROOT
        found = [node for node in self.stated if node[1] == name]
        if not found:
            problem = unknown_name("frame", name, [MODEL, *(n for _, n in self.stated)])
            raise problem.at(line=where.line, field=where.tag)
        if len(found) > 1:
            kinds = " and ".join(kind for kind, _ in found)
            where.fail(f"'{printable(name, 60)}' is the name of a {kinds}: the name is ambiguous.")
        return found[0]

    def _above(self, node: Node) -> Node:
        reference, _, element = self.stated[node]
        return self.node(reference, element)

    @cached_property
    def _depth(self) -> dict[Node, int]:
        """How many poses lead from the model's frame to each node.

        Raises:
            DescriptionError: a pose that is stated relative to itself, be it through others.
        """
        depth = {ROOT: 0}
        for start in self.stated:
            way: dict[Node, None] = {}
            node = start
            while node not in depth:
                if node in way:
                    element = self.stated[node][2]
                    element.fail(f"The pose of '{printable(node[1], 60)}' is stated relative to itself.", "relative_to")
                way[node] = None
                node = self._above(node)
            below = depth[node]
            for k, passed in enumerate(reversed(way), 1):
                depth[passed] = below + k
        return depth

    def between(self, a: Node, b: Node) -> Pose:
        """X_AB, composed from the nearest frame that both stand in: exactly what is stated where B stands in A."""
        depth, X_CA, X_CB = self._depth, IDENTITY, IDENTITY
        while a != b:
            if depth[a] > depth[b]:
                a, X_CA = self._above(a), _after(self.stated[a][1], X_CA)
            else:
                b, X_CB = self._above(b), _after(self.stated[b][1], X_CB)
        return X_CB if X_CA is IDENTITY else X_CA.inverse() @ X_CB


def _after(first: Pose, then: Pose) -> Pose:
    """``first @ then``, without arithmetic where one of them is the identity."""
    return then if first.is_identity else first if then.is_identity else first @ then


def attached_link(name: str, frames: dict[str, str], links: set[str], where: Element) -> str:
    """The link that a frame is attached to, through other frames if need be.

    Args:
        frames: what each frame is attached to.
    """
    seen: set[str] = set()
    while name not in links:
        if name in seen:
            where.fail(f"The frame '{printable(name, 60)}' is attached to itself.", "attached_to")
        seen.add(name)
        if name not in frames:
            problem: DescriptionError = unknown_name("link or frame", name, [*links, *frames])
            raise problem.at(line=where.line, field=where.tag)
        name = frames[name]
    return name
