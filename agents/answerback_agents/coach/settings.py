"""The coach's settings: an agent's `options` in the configuration."""

from typing import Literal

import pydantic

from answerback.errors import ConfigurationError

Mode = Literal["development", "production"]


class Settings(pydantic.BaseModel):
    """What stands under `options`; every value may come as a text."""

    model_config = pydantic.ConfigDict(extra="forbid", frozen=True)

    model: str | dict[Mode, str] = ""
    """`provider:model`, or one for each `ai_mode`. Without one the coach goes by plain rules."""
    ai_mode: Mode = "development"
    """Which of two models is used."""
    hitl_enabled: bool = True
    """Whether it asks, where a run does not say."""
    enable_plotting: bool = False
    """Whether analyses end with small charts, where a run does not say."""
    activities_days: int = pydantic.Field(default=7, ge=1, le=365)
    """How many days back workouts are looked at."""
    metrics_days: int = pydantic.Field(default=14, ge=4, le=365)
    """How many days back training load, sleep and heart are looked at."""

    @property
    def model_name(self) -> str:
        """The model that is to be used; "" for none. Raises ConfigurationError."""
        if isinstance(self.model, str):
            return self.model
        if self.ai_mode not in self.model:
            raise ConfigurationError(f"options.model: there is none for ai_mode {self.ai_mode}; name one")
        return self.model[self.ai_mode]
