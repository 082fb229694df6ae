"""The record of every call, and the durable spool it leaves through."""
