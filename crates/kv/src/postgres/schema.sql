-- Run by each server that opens the catalog, under a lock; every statement may be repeated. Where there is nothing to do, none
-- takes a lock on a table, which would wait for all readers and hold up those who come after them.

CREATE TABLE IF NOT EXISTS cenote_rows (key bytea PRIMARY KEY, value bytea NOT NULL);

-- One row: the newest commit. Its lock puts commits in order.
CREATE TABLE IF NOT EXISTS cenote_version (
    only_row boolean PRIMARY KEY DEFAULT true CHECK (only_row),
    version bigint NOT NULL
);
-- The mark of the server that has the catalog alone, if one ever claimed it.
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

-- A sum that overflows wraps.
CREATE OR REPLACE FUNCTION cenote_wrap(sum numeric) RETURNS bigint
LANGUAGE sql IMMUTABLE AS $$
    SELECT (CASE WHEN sum > 9223372036854775807 THEN sum - 18446744073709551616
                 WHEN sum < -9223372036854775808 THEN sum + 18446744073709551616
                 ELSE sum END)::bigint
$$;

-- Whether what a caller saw is still so: a key with its value (null: absent), or, if
-- `row_limit` is given, a range whose rows had `seen_value` as their digest.
CREATE OR REPLACE FUNCTION cenote_holds(
    seen_key bytea, seen_value bytea, range_end bytea, row_limit bigint
) RETURNS boolean LANGUAGE sql VOLATILE AS $$
    SELECT CASE WHEN row_limit IS NULL THEN
        (SELECT value FROM cenote_rows WHERE key = seen_key) IS NOT DISTINCT FROM seen_value
    ELSE
        (SELECT sha256(coalesce(string_agg(
            int4send(octet_length(key)) || key || int4send(octet_length(value)) || value,
            ''::bytea ORDER BY key), ''::bytea))
         FROM (SELECT key, value FROM cenote_rows
               WHERE key >= seen_key AND key < range_end
               ORDER BY key LIMIT row_limit) AS seen) = seen_value
    END
$$;

-- Before there were marks.
DROP FUNCTION IF EXISTS cenote_commit(
    bigint, bytea[], bytea[], bytea[], bigint[], bytea[], bytea[], bytea[], bytea[], bigint[], bytea[], bytea[], bytea,
    bytea[], bigint[], bigint[]);

-- Before a commit could ask for its version.
DROP FUNCTION IF EXISTS cenote_commit(
    bigint, bytea[], bytea[], bytea[], bigint[], bytea[], bytea[], bytea[], bytea[], bigint[], bytea[], bytea[], bytea,
    bytea[], bigint[], bigint[], bytea);

-- Checks and writes one batch: its version, or the key of the evidence that failed, or the key of a counter that would
-- exceed its bound, with what that holds; or nothing, if another server has claimed the catalog since. The version is at
-- least `lowest`. Bounds rest on the newest values, whatever was seen.
-- Each query of a volatile function sees what was committed before it began, and so,
-- once the lock is held, every earlier commit.
CREATE OR REPLACE FUNCTION cenote_commit(
    seen bigint,
    seen_keys bytea[], seen_values bytea[], range_ends bytea[], row_limits bigint[],
    put_keys bytea[], put_values bytea[], deleted bytea[],
    counters bytea[], deltas bigint[],
    logs bytea[], entries bytea[],
    batch_token bytea,
    bound_keys bytea[], bound_mosts bigint[], bound_added bigint[],
    claimed bytea,
    lowest bigint,
    OUT committed bigint, OUT refused bytea, OUT held bigint
) LANGUAGE plpgsql VOLATILE AS $$
DECLARE
    newest bigint;
    counted bigint;
    claimant bytea;
BEGIN
    SELECT version, holder INTO STRICT newest, claimant FROM cenote_version FOR UPDATE;
    IF claimed <> claimant THEN
        RETURN;
    END IF;
    IF seen <> newest OR seen = 0 THEN
        FOR at IN 1 .. cardinality(seen_keys) LOOP
            IF NOT cenote_holds(seen_keys[at], seen_values[at], range_ends[at], row_limits[at]) THEN
                refused := seen_keys[at];
                RETURN;
            END IF;
        END LOOP;
    END IF;
    FOR at IN 1 .. cardinality(bound_keys) LOOP
        counted := coalesce(
            (SELECT cenote_counter(value) FROM cenote_rows WHERE key = bound_keys[at]), 0);
        IF counted::numeric + bound_added[at] > bound_mosts[at] THEN
            refused := bound_keys[at];
            held := counted;
            RETURN;
        END IF;
    END LOOP;

    committed := greatest(newest + 1, lowest);
    UPDATE cenote_version SET version = committed;
    IF batch_token IS NOT NULL THEN
        INSERT INTO cenote_tokens VALUES (batch_token, committed);
    END IF;
    IF committed % 1000 = 0 THEN
        DELETE FROM cenote_tokens WHERE abs(version) < committed - 131072;
    END IF;

    DELETE FROM cenote_rows WHERE key = ANY (deleted);
    INSERT INTO cenote_rows SELECT * FROM unnest(put_keys, put_values)
        ON CONFLICT (key) DO UPDATE SET value = EXCLUDED.value;
    INSERT INTO cenote_rows
        SELECT log || int8send(committed) || int4send((place - 1)::integer), entry
        FROM unnest(logs, entries) WITH ORDINALITY AS appended (log, entry, place)
        ON CONFLICT (key) DO UPDATE SET value = EXCLUDED.value;
    INSERT INTO cenote_rows
        SELECT added.key, int8send(cenote_wrap(cenote_counter(old.value) + added.delta))
        FROM unnest(counters, deltas) AS added (key, delta)
        LEFT JOIN cenote_rows AS old ON old.key = added.key
        ON CONFLICT (key) DO UPDATE SET value = EXCLUDED.value;
    DELETE FROM cenote_rows WHERE key = ANY (counters) AND value = int8send(0);
    -- Told to those who listen when this is committed.
    IF cardinality(logs) > 0 THEN
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
