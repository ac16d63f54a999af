# cogworks in a container: one step of one issue.
#   docker build -t cogworks .
#   docker run --rm -e COGWORKS_GITHUB_TOKEN -e COGWORKS_LLM_API_KEY cogworks process https://github.com/owner/repository/issues/42
# A tag is whatever somebody pushed last; the digest is that of the image for every kind of machine. To take a newer one:
#   docker buildx imagetools inspect python:3.12-slim --format '{{.Manifest.Digest}}'
FROM python:3.12-slim@sha256:78387bc3881b8273120a12ebe6c1ab22b018ccc2c9adf565ae1ac9b536e184ea AS build
WORKDIR /source
COPY pyproject.toml requirements.lock README.md LICENSE ./
COPY tests/data/NOTICE.md tests/data/NOTICE.md
COPY cogworks cogworks
COPY prompts prompts
COPY schemas schemas
# Every package, the build backend too, by its hash; then cogworks itself, which needs no package index any more.
RUN python -m venv /opt/cogworks \
    && /opt/cogworks/bin/pip install --no-cache-dir --require-hashes --only-binary :all: --requirement requirements.lock \
    && /opt/cogworks/bin/pip install --no-cache-dir --no-index --no-deps --no-build-isolation .

FROM python:3.12-slim@sha256:78387bc3881b8273120a12ebe6c1ab22b018ccc2c9adf565ae1ac9b536e184ea
# hadolint ignore=DL3008
RUN apt-get update && apt-get install --yes --no-install-recommends git && rm -rf /var/lib/apt/lists/* \
    && useradd --create-home cogworks
COPY --from=build /opt/cogworks /opt/cogworks
USER cogworks
WORKDIR /home/cogworks
ENV PATH=/opt/cogworks/bin:$PATH PYTHONUNBUFFERED=1
ENTRYPOINT ["cogworks"]
CMD ["--help"]
