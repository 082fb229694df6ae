"""The read path: one tenant's memory as arrays, a projection of the system of record."""
