"""One node, no network."""

from leadline.machine.topologies._kind import Kind

KINDS = {"single": Kind()}
