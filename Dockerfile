# One image for every program of Telha; docker-compose.yml says which one each container runs.

FROM python:3.11.14-slim-bookworm AS build
ENV PIP_NO_CACHE_DIR=1 PIP_DISABLE_PIP_VERSION_CHECK=1
RUN python -m venv /opt/telha
WORKDIR /src
# The locked packages first: they change less often than the code.
COPY requirements-server.lock requirements-build.lock ./
RUN /opt/telha/bin/pip install --only-binary :all: --require-hashes -r requirements-server.lock
RUN pip install --only-binary :all: --require-hashes -r requirements-build.lock
COPY pyproject.toml README.md LICENSE ./
COPY services services
COPY clients clients
COPY proto/gen/python proto/gen/python
RUN pip wheel --no-deps --no-build-isolation --wheel-dir /wheel . \
 && /opt/telha/bin/pip install --no-deps /wheel/*.whl \
 && /opt/telha/bin/python -m compileall -q /opt/telha/lib

FROM python:3.11.14-slim-bookworm
RUN useradd --uid 10001 --user-group --no-create-home --home-dir /var/lib/telha telha \
 && install -d -o telha -g telha -m 700 /var/lib/telha /var/lib/telha/spool
COPY --from=build /opt/telha /opt/telha
ENV PATH=/opt/telha/bin:$PATH PYTHONDONTWRITEBYTECODE=1 PYTHONUNBUFFERED=1
WORKDIR /var/lib/telha
USER 10001:10001
CMD ["telha", "--help"]
