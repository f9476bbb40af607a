"""Files of claims: what is wrong in one is named with its file and line."""

from pathlib import Path

import pytest

from leadline.core.errors import UsageError
from leadline.papers import paper


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("", "3: a paper has|1: a paper has"),
        ("[[claim]]\nid='a'\nkind='vlaue'\n", "6: kind: .*'vlaue'.*'value'"),
        ("[[claim]]\nid='a'\nkind='value'\nexpcet=1\n", "7: .*did you mean 'expect'"),
        ("[[claim]]\nid='a'\nkind='value'\n", "4: .* a value to expect"),
        ("[[claim]]\nid='a'\nkind='value'\nband=[2,1]\n", "7: band: .*2, 1"),
        ("[[claim]]\nid='a'\nkind='value'\nexpect=1\nunit='KB'\n", "8: unit: .*'KB'"),
        ("[[claim]]\nid='a'\nkind='value'\nexpect='1'\n", "7: expect: .*'1'"),
        ("[[claim]]\nid='a'\nkind='property'\n" * 2, "8: .*'a' stands on line 5"),
        ("claim = ", "4: this is not TOML"),
        ("claim = 1", "4: claim is written"),
    ],
)
def test_a_wrong_file_of_claims_is_told(tmp_path: Path, text: str, said: str) -> None:
    """One sentence with file and line."""
    path = tmp_path / "paper.toml"
    path.write_text(f"[[run]]\nplan='a'\nmachine='b'\n{text}" if "claim =" not in text else f"\n\n\n{text}")
    with pytest.raises(UsageError, match=f"paper.toml:({said})"):
        paper.Paper.load(path)


def test_an_unknown_paper_is_told() -> None:
    """The nearest name is offered."""
    with pytest.raises(UsageError, match="no paper 'bpg'; did you mean 'bgp'"):
        paper.find("bpg")
