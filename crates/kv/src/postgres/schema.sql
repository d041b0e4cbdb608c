-- Run by each server that opens the catalog, under a lock; every statement may be repeated. Where there is nothing to do, none
-- takes a lock on a table, which would wait for all readers and hold up those who come after them.

CREATE TABLE IF NOT EXISTS cenote_rows (key bytea PRIMARY KEY, value bytea NOT NULL);

-- One row: the newest commit. Its lock puts commits in order.
CREATE TABLE IF NOT EXISTS cenote_version (
    only_row boolean PRIMARY KEY DEFAULT true CHECK (only_row),
    version bigint NOT NULL
);
-- The mark of the server that had the catalog alone last, or of those who have it together.
DO $$ BEGIN
    IF NOT EXISTS (SELECT FROM pg_attribute
                   WHERE attrelid = 'cenote_version'::regclass AND attname = 'holder') THEN
        ALTER TABLE cenote_version ADD COLUMN holder bytea;
    END IF;
END $$;
INSERT INTO cenote_version (version) VALUES (0) ON CONFLICT DO NOTHING;

-- A negative version: settled as never committed when that version was the newest.
CREATE TABLE IF NOT EXISTS cenote_tokens (token bytea PRIMARY KEY, version bigint NOT NULL);
CREATE INDEX IF NOT EXISTS cenote_tokens_age ON cenote_tokens (abs(version));

-- A counter is a big-endian 64-bit integer; any other value counts as zero.
CREATE OR REPLACE FUNCTION cenote_counter(value bytea) RETURNS numeric
LANGUAGE sql IMMUTABLE AS $$
    SELECT CASE WHEN octet_length(value) = 8
        THEN ('x' || encode(value, 'hex'))::bit(64)::bigint::numeric ELSE 0 END
$$;

-- A sum that overflows wraps, however often.
CREATE OR REPLACE FUNCTION cenote_wrap(sum numeric) RETURNS bigint
LANGUAGE sql IMMUTABLE AS $$
    SELECT (mod(mod(sum + 9223372036854775808, 18446744073709551616) + 18446744073709551616, 18446744073709551616)
        - 9223372036854775808)::bigint
$$;

-- Before there were marks; before batches were merged.
DROP FUNCTION IF EXISTS cenote_commit(
    bigint, bytea[], bytea[], bytea[], bigint[], bytea[], bytea[], bytea[], bytea[], bigint[], bytea[], bytea[], bytea,
    bytea[], bigint[], bigint[]);
DROP FUNCTION IF EXISTS cenote_commit(
    bigint, bytea[], bytea[], bytea[], bigint[], bytea[], bytea[], bytea[], bytea[], bigint[], bytea[], bytea[], bytea,
    bytea[], bigint[], bigint[], bytea);
DROP FUNCTION IF EXISTS cenote_holds(bytea, bytea, bytea, bigint);

-- What a commit depends on and changes, as parallel arrays; `columns.rs` has the same fields in the same order. Evidence is one digest of
-- the rows that were at `seen_keys` (null without keys), and one of the rows of each range up to its limit. A key is among `put_keys`,
-- `deleted` and `counters` at most once. `lowest`: its version is at least this. `sums_first`: it depends on or changes what earlier
-- ones of a group add to. Servers of an earlier program with the same format may have the catalog beside those of this one (rolling upgrade): what they call, the
-- function `cenote_commit` with its type `cenote_batch`, is left where it is, and does the same by the same lock.
DO $$ BEGIN
    IF to_regtype('cenote_changes') IS NULL THEN
        CREATE TYPE cenote_changes AS (
            seen bigint,
            seen_keys bytea[], seen_digest bytea,
            range_starts bytea[], range_ends bytea[], row_limits bigint[], range_digests bytea[],
            put_keys bytea[], put_values bytea[], deleted bytea[],
            counters bytea[], deltas bigint[],
            logs bytea[], entries bytea[],
            token bytea,
            lowest bigint,
            bound_keys bytea[], bound_mosts bigint[], bound_added bigint[],
            sums_first boolean
        );
    END IF;
END $$;

-- A row as it is digested.
CREATE OR REPLACE FUNCTION cenote_row(key bytea, value bytea) RETURNS bytea
LANGUAGE sql IMMUTABLE AS $$
    SELECT int4send(octet_length(key)) || key || int4send(octet_length(value)) || value
$$;

-- Adds to counters, each of which may be named more than once; one that holds zero is removed.
CREATE OR REPLACE FUNCTION cenote_add(counters bytea[], deltas bigint[]) RETURNS void
LANGUAGE plpgsql VOLATILE AS $$
BEGIN
    IF cardinality(counters) = 0 THEN
        RETURN;
    END IF;
    INSERT INTO cenote_rows
        SELECT added.key, int8send(cenote_wrap(cenote_counter(old.value) + added.delta))
        FROM (SELECT key, sum(delta) AS delta FROM unnest(counters, deltas) AS each (key, delta) GROUP BY key) AS added
        LEFT JOIN LATERAL (SELECT rows.value FROM cenote_rows AS rows WHERE rows.key = added.key OFFSET 0) AS old ON true
        ON CONFLICT (key) DO UPDATE SET value = EXCLUDED.value;
    DELETE FROM cenote_rows WHERE key = ANY (counters) AND value = int8send(0);
END
$$;

-- Checks and writes batches, each after those before it, and each for itself. A row for each: its version, or the first key of the
-- evidence that failed (whichever of its keys changed: a digest does not tell), or the key of a counter that would exceed its bound,
-- with what that holds, or only nulls if its token was used before. No rows, if another server has claimed the catalog since. Bounds rest on the newest values, whatever was seen.
-- Each query of a volatile function sees what was committed before it began, and so, once the lock is held, every earlier
-- commit, and what the function did itself. Its plans are made once, and look keys up by the index, whatever the size of the
-- table was then: plans for each call would take half of the time, and one from when the table was small would read all of it.
CREATE OR REPLACE FUNCTION cenote_apply(batches cenote_changes[], claimed bytea)
RETURNS TABLE (committed bigint, refused bytea, held bigint) LANGUAGE plpgsql VOLATILE
SET plan_cache_mode = force_generic_plan SET enable_seqscan = off SET jit = off AS $$
DECLARE
    batch cenote_changes;
    before bigint;
    newest bigint;
    claimant bytea;
    appended boolean := false;
    -- Additions that are not written yet: a counter to which many batches of a group add is written once.
    counters bytea[] := '{}';
    deltas bigint[] := '{}';
BEGIN
    SELECT version, holder INTO STRICT before, claimant FROM cenote_version WHERE only_row FOR UPDATE;
    IF claimed <> claimant THEN
        RETURN;
    END IF;
    newest := before;
    FOREACH batch IN ARRAY batches LOOP
        committed := NULL;
        refused := NULL;
        held := NULL;
        IF batch.sums_first THEN
            PERFORM cenote_add(counters, deltas);
            counters := '{}';
            deltas := '{}';
        END IF;
        IF batch.seen <> newest OR batch.seen = 0 THEN
            IF batch.seen_digest IS NOT NULL THEN
                SELECT batch.seen_keys[1] INTO refused
                FROM cenote_rows AS rows WHERE rows.key = ANY (batch.seen_keys)
                HAVING sha256(coalesce(string_agg(cenote_row(rows.key, rows.value), ''::bytea ORDER BY rows.key), ''::bytea))
                    <> batch.seen_digest;
                IF FOUND THEN
                    RETURN NEXT;
                    CONTINUE;
                END IF;
            END IF;
            IF cardinality(batch.range_starts) > 0 THEN
                SELECT seen.first INTO refused
                FROM unnest(batch.range_starts, batch.range_ends, batch.row_limits, batch.range_digests)
                    WITH ORDINALITY AS seen (first, range_end, row_limit, digest, place)
                WHERE (SELECT sha256(coalesce(string_agg(cenote_row(scanned.key, scanned.value), ''::bytea ORDER BY scanned.key),
                                              ''::bytea))
                       FROM (SELECT rows.key, rows.value FROM cenote_rows AS rows
                             WHERE rows.key >= seen.first AND rows.key < seen.range_end
                             ORDER BY rows.key LIMIT seen.row_limit) AS scanned) <> seen.digest
                ORDER BY place LIMIT 1;
                IF FOUND THEN
                    RETURN NEXT;
                    CONTINUE;
                END IF;
            END IF;
        END IF;
        IF cardinality(batch.bound_keys) > 0 THEN
            SELECT bound.key, cenote_counter(old.value) INTO refused, held
            FROM unnest(batch.bound_keys, batch.bound_mosts, batch.bound_added)
                WITH ORDINALITY AS bound (key, most, added, place)
            LEFT JOIN LATERAL (SELECT rows.value FROM cenote_rows AS rows WHERE rows.key = bound.key OFFSET 0) AS old ON true
            WHERE cenote_counter(old.value) + bound.added > bound.most
            ORDER BY place LIMIT 1;
            IF FOUND THEN
                RETURN NEXT;
                CONTINUE;
            END IF;
        END IF;
        IF batch.token IS NOT NULL THEN
            INSERT INTO cenote_tokens VALUES (batch.token, greatest(newest + 1, batch.lowest)) ON CONFLICT DO NOTHING;
            IF NOT FOUND THEN
                RETURN NEXT;
                CONTINUE;
            END IF;
        END IF;

        newest := greatest(newest + 1, batch.lowest);
        IF cardinality(batch.deleted) > 0 THEN
            DELETE FROM cenote_rows WHERE key = ANY (batch.deleted);
        END IF;
        IF cardinality(batch.put_keys) > 0 THEN
            INSERT INTO cenote_rows SELECT * FROM unnest(batch.put_keys, batch.put_values)
                ON CONFLICT (key) DO UPDATE SET value = EXCLUDED.value;
        END IF;
        IF cardinality(batch.logs) > 0 THEN
            INSERT INTO cenote_rows
                SELECT log || int8send(newest) || int4send((place - 1)::integer), entry
                FROM unnest(batch.logs, batch.entries) WITH ORDINALITY AS written (log, entry, place)
                ON CONFLICT (key) DO UPDATE SET value = EXCLUDED.value;
            appended := true;
        END IF;
        IF cardinality(batch.counters) > 0 THEN
            counters := counters || batch.counters;
            deltas := deltas || batch.deltas;
        END IF;
        committed := newest;
        refused := NULL;
        held := NULL;
        RETURN NEXT;
    END LOOP;

    PERFORM cenote_add(counters, deltas);
    IF newest > before THEN
        UPDATE cenote_version SET version = newest WHERE only_row;
    END IF;
    IF newest / 1000 > before / 1000 THEN
        DELETE FROM cenote_tokens WHERE abs(version) < newest - 131072;
    END IF;
    -- Told to those who listen when this is committed.
    IF appended THEN
        PERFORM pg_notify('cenote_commits', current_schema()::text);
    END IF;
END
$$;

-- The version of a token, or null: then no commit with it will ever be applied, also if its
-- statement is still on the way.
CREATE OR REPLACE FUNCTION cenote_outcome(asked bytea) RETURNS bigint
LANGUAGE plpgsql VOLATILE AS $$
DECLARE
    newest bigint;
    found bigint;
BEGIN
    SELECT version INTO STRICT newest FROM cenote_version FOR UPDATE;
    INSERT INTO cenote_tokens VALUES (asked, -newest) ON CONFLICT DO NOTHING;
    SELECT version INTO found FROM cenote_tokens WHERE token = asked;
    RETURN CASE WHEN found > 0 THEN found END;
END
$$;
