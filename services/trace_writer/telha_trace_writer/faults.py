"""How the trace store fails; no error of a driver leaves it."""


class StoreUnusable(Exception):
    """The store cannot be opened; the message is one sentence with place and cause, without a password."""


class StoreFailed(Exception):
    """The store cannot answer at this moment (disk full, locked, away); nothing was half written."""
