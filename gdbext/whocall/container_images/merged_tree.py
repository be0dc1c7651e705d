"""The files that a stack of layers shows: upper layers hide what lies below."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from whocall.base.errors import Error
from whocall.container_images.layers import Layers, parts_of

_WHITEOUT = ".wh."
_OPAQUE = ".wh..wh..opq"
_LINKS = 40  # on the way to one file, as the kernel allows
_MOST = 1 << 21  # files and directories of all layers: large images have some hundred thousand
_LONGEST = 4096  # bytes of a path, as the kernel allows


class Node:
    """A file, a directory (it has children), or a symbolic link."""

    __slots__ = ("children", "layer", "link", "name", "size")

    def __init__(self) -> None:
        self.children: dict[str, Node] = {}
        self.layer = -1  # which one holds the bytes of a regular file
        self.name = ""  # of that member, as its layer has it
        self.size = 0
        self.link: str | None = None


class MergedTree:
    """Made of the names in all layers, without the bytes."""

    def __init__(self, layers: Layers) -> None:
        self._name = layers.name
        self._count = 0
        self._root = Node()
        for at in range(len(layers)):
            self._add(layers, at)

    def _counted(self) -> None:
        """Raises Error where there are more than memory should be taken for."""
        self._count += 1
        if self._count > _MOST:
            raise Error(
                f"{self._name} holds more than {_MOST:,} files: unpack it, and name the directory"
                " by --sysroot",
                path=self._name,
            )

    def _node(self) -> Node:
        self._counted()
        return Node()

    def _add(self, layers: Layers, at: int) -> None:
        # What a layer hides is below it: its own files come afterwards, in whatever order.
        files: list[tuple[list[str], Node | None]] = []
        hard: list[tuple[list[str], str]] = []
        for _, member in layers.members(at):
            parts = parts_of(member.name)
            if not parts or max(len(member.name), len(member.target)) > _LONGEST:
                continue
            if parts[-1].startswith(_WHITEOUT):
                self._hide(parts)
            elif member.kind == "hard link":
                self._counted()
                hard.append((parts, member.target))
            elif member.kind == "directory":
                files.append((parts, None))
            elif member.kind:
                node = self._node()
                node.layer, node.name, node.size = at, member.name, member.size
                node.link = member.target if member.kind == "symbolic link" else None
                files.append((parts, node))
        for parts, made in files:
            self._put(parts, made)
        for parts, target in hard:
            known = self._plain(parts_of(target) or [])
            if known is not None:
                self._put(parts, known)

    def _hide(self, parts: list[str]) -> None:
        folder = self._plain(parts[:-1])
        if folder is None:
            return
        if parts[-1] == _OPAQUE:
            folder.children.clear()
        else:
            folder.children.pop(parts[-1][len(_WHITEOUT) :], None)

    def _plain(self, parts: Iterable[str]) -> Node | None:
        """The node at a path that is taken as it stands."""
        node = self._root
        for part in parts:
            child = node.children.get(part)
            if child is None:
                return None
            node = child
        return node

    def _put(self, parts: list[str], made: Node | None) -> None:
        """Directories merge with those below, all else takes their place."""
        node = self._root
        for at, part in enumerate(parts[:-1]):
            child = node.children.get(part)
            if child is not None and child.link is not None:
                child = self._followed("/".join(parts[: at + 1]))
            if child is None or child.layer >= 0:
                child = node.children[part] = self._node()
            node = child
        old = node.children.get(parts[-1])
        if made is not None:
            node.children[parts[-1]] = made
        elif old is None or old.layer >= 0:
            node.children[parts[-1]] = self._node()

    def find(self, path: str) -> Node | None:
        """The regular file at an absolute path, through links that stay inside; None for none."""
        node = self._followed(path)
        return node if node is not None and node.layer >= 0 else None

    def _followed(self, path: str) -> Node | None:
        """The file or directory at a path."""
        node = self._root
        above: list[Node] = []
        rest = [part for part in reversed(path.split("/")) if part not in ("", ".")]
        links = 0
        while rest:
            part = rest.pop()
            if part == "..":
                node = above.pop() if above else self._root
                continue
            child = node.children.get(part)
            if child is None:
                return None
            if child.link is None:
                above.append(node)
                node = child
                continue
            links += 1
            if links > _LINKS:
                return None
            if child.link.startswith("/"):
                node, above = self._root, []
            rest += [p for p in reversed(child.link.split("/")) if p not in ("", ".")]
        return node

    def folder(self, path: str) -> Iterator[str]:
        """The names in a directory."""
        node = self._followed(path)
        yield from sorted(node.children) if node else ()
