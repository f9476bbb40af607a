"""Where a recorded program's time goes: waits, who causes them, the critical path, and what to do."""

from leadline.profile.analysis import Profile, profile

__all__ = ["Profile", "profile"]
