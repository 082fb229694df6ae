#!/bin/sh
# Run once by the PostgreSQL image, when the data folder is empty: the role and the database of Telha.
#
# The role is a plain one. Row-level security keeps tenants apart and does not bind superusers, so Telha refuses those.
# Code point order from the server's own tables, so that no update of the operating system reorders an index.
set -eu

psql --no-psqlrc --set ON_ERROR_STOP=1 --set password="$TELHA_DB_PASSWORD" \
  --username "${POSTGRES_USER:-postgres}" --dbname postgres <<'SQL'
CREATE ROLE telha LOGIN PASSWORD :'password' NOSUPERUSER NOCREATEDB NOCREATEROLE NOBYPASSRLS;
CREATE DATABASE telha OWNER telha TEMPLATE template0 ENCODING 'UTF8' LOCALE_PROVIDER builtin BUILTIN_LOCALE 'C.UTF-8';
REVOKE CONNECT ON DATABASE telha FROM PUBLIC;
\connect telha
CREATE EXTENSION vector;
SQL
