"""The pipeline that ships with cogworks, for repositories that declare none."""

from functools import cache
from importlib.resources import files

from cogworks.pipeline.graph import PipelineConfiguration
from cogworks.pipeline.parser import parse_pipelines

BUILT_IN_SOURCE = "default_pipeline.toml (built in)"


@cache
def built_in_pipelines() -> PipelineConfiguration:
    """The checked content of the package's own `default_pipeline.toml`."""
    text = files("cogworks.pipeline").joinpath("default_pipeline.toml").read_text(encoding="utf-8")
    return parse_pipelines(text, source=BUILT_IN_SOURCE, built_in=True)
