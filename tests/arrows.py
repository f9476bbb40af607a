"""What each module of `leadline` imports, directly and through others, also by name at run time."""

import ast
import sys
from collections.abc import Iterator, Mapping
from functools import cache
from pathlib import Path

PACKAGE = Path(__file__).parents[1] / "src" / "leadline"


def modules(package: Path = PACKAGE) -> dict[str, Path]:
    """Every module of the package by its full name; a package is its `__init__`."""
    found = {}
    for path in sorted(package.rglob("*.py")):
        parts = (package.name, *path.relative_to(package).with_suffix("").parts)
        found[".".join(parts).removesuffix(".__init__")] = path
    return found


def direct(name: str, path: Path, known: Mapping[str, Path]) -> set[str]:
    """The modules of the package that one imports, at its top, inside a function, or by name at run time.

    Left out is what stands below `if TYPE_CHECKING`: it is read, never imported. A call of `import_module` or
    `Plugins` whose name begins with a package imports every module of that package.
    """
    tree = ast.parse(path.read_text(), filename=str(path))
    package = name if path.name == "__init__.py" else name.rpartition(".")[0]
    found: set[str] = set()
    for node in _running(tree):
        if isinstance(node, ast.Import):
            found |= {alias.name for alias in node.names}
        elif isinstance(node, ast.ImportFrom):
            above = package.split(".")[: len(package.split(".")) - node.level + 1] if node.level else []
            base = ".".join([*above, *([node.module] if node.module else [])])
            found |= {base} | {f"{base}.{alias.name}" for alias in node.names}
        elif isinstance(node, ast.Call) and ast.unparse(node.func).rpartition(".")[2] in (
            "import_module",
            "Plugins",
        ):
            beginning = _beginning(node.args[0], name, package)
            found |= {each for each in known if beginning and each.startswith(beginning) and "._" not in each}
    # A module's packages are imported before it.
    found |= {each.rsplit(".", n)[0] for each in found for n in range(1, each.count(".") + 1)}
    return {each for each in found if each in known and each != name}


def _running(node: ast.AST) -> Iterator[ast.AST]:
    """All nodes but those that only a type checker reads."""
    for child in ast.iter_child_nodes(node):
        if isinstance(child, ast.If) and ast.unparse(child.test).endswith("TYPE_CHECKING"):
            for other in child.orelse:
                yield from _running(other)
            continue
        yield child
        yield from _running(child)


def _beginning(argument: ast.expr, name: str, package: str) -> str:
    """What the name of a module imported at run time begins with; "" where it is not of the package."""
    text = ast.unparse(argument).strip("f").strip("'\"")
    text = text.replace("{__name__}", name).replace("__name__", name).replace("{__package__}", package)
    return text.partition("{")[0] if text.startswith("leadline") else ""


@cache
def graph(package: Path = PACKAGE) -> dict[str, set[str]]:
    """Each module with the modules that it imports directly."""
    known = modules(package)
    return {name: direct(name, path, known) for name, path in known.items()}


def way(start: str, to: str, package: Path = PACKAGE) -> list[str]:
    """The shortest chain of imports from a module to one named, or below, `to`; empty without one."""
    arrows = graph(package)
    ways = {start: [start]}
    front = [start]
    while front:
        ahead = []
        for each in front:
            for target in sorted(arrows[each]):
                if target in ways:
                    continue
                ways[target] = [*ways[each], target]
                if target == to or target.startswith(f"{to}."):
                    return ways[target]
                ahead.append(target)
        front = ahead
    return []


if __name__ == "__main__":
    print(" -> ".join(way(sys.argv[1], sys.argv[2])) or "no way")
