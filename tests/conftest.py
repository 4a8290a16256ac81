"""What holds for every test: none is judged by the clock, since machines are shared."""

from hypothesis import settings

settings.register_profile("untimed", deadline=None)
settings.load_profile("untimed")
