"""A machine for tests of plans: it has whatever MPI a plan names."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

from leadline.targets.local.machine import LocalMachine


@dataclass(frozen=True)
class Anywhere(LocalMachine):
    """`words` are those of plans that mean other identities than themselves."""

    words: Mapping[str, Sequence[str]] = field(default_factory=dict)

    def mpis(self, word: str) -> Sequence[str]:
        """The identities of the word, or the word."""
        return self.words.get(word, [word])
