"""The trace viewer: a page that shows why each span is in a plan or out of it, made of the files in `web/`."""
