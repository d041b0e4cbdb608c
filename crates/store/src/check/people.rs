//! Users, groups, tokens and tickets, and the ways back to them.

use bytes::Bytes;

use super::report::{Look, Report, delete_while_same, look, rows, while_same};
use super::{Finding, FindingKind as Kind};
use crate::Result;
use crate::catalog::{Reads, Record, TicketRecord, TokenRecord, Transaction, View, keys};
use crate::model::{Person, PersonId, ResourceId};

pub(super) fn check(view: &View, report: &mut Report<'_>) -> Result<()> {
    persons(view, report)?;
    person_names(view, report)?;
    members(view, report)?;
    tokens(view, report)?;
    tokens_of_users(view, report)?;
    tickets(view, report)?;
    tickets_of_resources(view, report)?;
    report.flush()
}

/// Reports a missing way back, which `key` should hold while `because` is as it is.
fn missing(
    view: &View,
    report: &mut Report<'_>,
    id: impl std::fmt::Display,
    detail: &str,
    (because, key, value): (&Bytes, Bytes, Bytes),
) -> Result<()> {
    let seen = vec![(because.clone(), view.value(because)?), (key.clone(), view.value(&key)?)];
    let fix = while_same(seen, move |tx| tx.put_raw(key.clone(), value.clone()));
    report.derivable(Finding::new(Kind::Reference, id, detail), fix)
}

/// Reports a row that leads nowhere, while `because` is as it is.
fn stray(
    view: &View,
    report: &mut Report<'_>,
    id: impl std::fmt::Display,
    detail: &str,
    (because, key): (Bytes, &Bytes),
) -> Result<()> {
    let fix = delete_while_same(view, key, because)?;
    report.derivable(Finding::new(Kind::Reference, id, detail), fix)
}

fn delete_both(one: Bytes, other: Bytes) -> impl Fn(&mut Transaction) + 'static {
    move |tx| [&one, &other].into_iter().for_each(|row| tx.delete(row.clone()))
}

fn persons(view: &View, report: &mut Report<'_>) -> Result<()> {
    for row in rows(view, &keys::persons()) {
        let (key, value) = row?;
        let id = PersonId(keys::first_id(&key).unwrap_or_default());
        let Ok(person) = Person::from_value(&value) else {
            let detail = "the record of a user or group does not decode";
            report.lost(Finding::new(Kind::DamagedRecord, id, detail))?;
            continue;
        };
        groups(view, report, (&key, value, id), &person)?;
        let name = keys::person_name(&person.name);
        match look::<PersonId>(view, &name)? {
            Look::Found(found) if found == id => {}
            Look::Found(other) if view.has(&keys::person(other))? => {
                let detail = format!("its name leads to {other}");
                report.lost(Finding::new(Kind::Reference, id, detail))?;
            }
            _ => missing(
                view,
                report,
                id,
                "it is not in the index of names",
                (&key, name, id.to_value()),
            )?,
        }
    }
    Ok(())
}

fn person_names(view: &View, report: &mut Report<'_>) -> Result<()> {
    for row in rows(view, &keys::all_person_names()) {
        let (key, value) = row?;
        // An undecodable entry is repaired from the person with that name.
        let Ok(id) = PersonId::from_value(&value) else { continue };
        let person = keys::person(id);
        let detail = match look::<Person>(view, &person)? {
            Look::Missing => "a name that no user or group has",
            Look::Found(found) if keys::person_name(&found.name) != key => {
                "a name that leads to a user or group of another name"
            }
            _ => continue,
        };
        stray(view, report, id, detail, (person, &key))?;
    }
    Ok(())
}

/// The groups that have the user as their member, and no others, are in the record of the user.
fn groups(
    view: &View,
    report: &mut Report<'_>,
    (key, value, id): (&Bytes, Bytes, PersonId),
    person: &Person,
) -> Result<()> {
    let members: Vec<_> = person.groups.iter().map(|group| keys::member(*group, id)).collect();
    let has = view.values(&members)?;
    if has.iter().all(Option::is_some) {
        return Ok(());
    }
    let mut seen = vec![(key.clone(), Some(value))];
    seen.extend(members.into_iter().zip(&has).map(|(member, has)| (member, has.clone())));
    let mut has = has.iter().map(Option::is_some);
    let mut repaired = person.clone();
    repaired.groups.retain(|_| has.next().unwrap_or_default());
    let key = key.clone();
    let fix = while_same(seen, move |tx| tx.put(key.clone(), &repaired));
    let detail = "listed as a member of a group that does not have it";
    report.derivable(Finding::new(Kind::Reference, id, detail), fix)
}

fn members(view: &View, report: &mut Report<'_>) -> Result<()> {
    for row in rows(view, &keys::all_members()) {
        let (key, _) = row?;
        let (group, user) = pair(&key);
        let gone = [group, user]
            .map(keys::person)
            .into_iter()
            .find(|person| matches!(view.has(person), Ok(false)));
        if let Some(gone) = gone {
            let fix = while_same(vec![(gone, None)], move |tx| tx.delete(key.clone()));
            let detail = "the user or the group of a membership is missing";
            report.derivable(Finding::new(Kind::Reference, group, detail), fix)?;
        } else {
            member(view, report, (group, user))?;
        }
    }
    Ok(())
}

/// A user whose record does not decode is reported as such.
fn member(view: &View, report: &mut Report<'_>, (group, user): (PersonId, PersonId)) -> Result<()> {
    let key = keys::person(user);
    let Look::Found(mut person) = look::<Person>(view, &key)? else { return Ok(()) };
    let Err(place) = person.groups.binary_search(&group) else { return Ok(()) };
    person.groups.insert(place, group);
    let because = keys::member(group, user);
    let detail = "a group is not listed with its member";
    missing(view, report, user, detail, (&because, key, person.to_value()))
}

fn pair(key: &[u8]) -> (PersonId, PersonId) {
    let [first, second] = [keys::first_id(key), keys::last_id(key)].map(Option::unwrap_or_default);
    (PersonId(first), PersonId(second))
}

fn tokens(view: &View, report: &mut Report<'_>) -> Result<()> {
    for row in rows(view, &keys::tokens()) {
        let (key, value) = row?;
        let Ok(token) = TokenRecord::from_value(&value) else {
            let fix =
                while_same(vec![(key.clone(), Some(value))], move |tx| tx.delete(key.clone()));
            let detail = "the record of a token does not decode; repair revokes it";
            report.derivable(Finding::new(Kind::DamagedRecord, "token", detail), fix)?;
            continue;
        };
        let user = keys::person(token.user);
        let back = keys::token_of(token.user, token.id);
        if !view.has(&user)? {
            let fix = while_same(vec![(user, None)], delete_both(key, back));
            report
                .derivable(Finding::new(Kind::Leftover, token.id, "a token without a user"), fix)?;
        } else if view.value(&back)?.as_deref() != Some(&key[1..]) {
            let digest = key.slice(1..);
            missing(
                view,
                report,
                token.id,
                "a token that is not listed with its user",
                (&key, back, digest),
            )?;
        }
    }
    Ok(())
}

fn tokens_of_users(view: &View, report: &mut Report<'_>) -> Result<()> {
    for row in rows(view, &keys::all_tokens_of()) {
        let (key, digest) = row?;
        let Ok(digest) = <&[u8; 32]>::try_from(&digest[..]) else { continue };
        let token = keys::token(digest);
        let because = match look::<TokenRecord>(view, &token)? {
            Look::Found(found) if keys::token_of(found.user, found.id) == key => continue,
            Look::Damaged => key.clone(),
            _ => token,
        };
        let id = keys::last_id(&key).unwrap_or_default();
        stray(view, report, id, "a token that does not exist", (because, &key))?;
    }
    Ok(())
}

fn tickets(view: &View, report: &mut Report<'_>) -> Result<()> {
    for row in rows(view, &keys::tickets()) {
        let (key, value) = row?;
        let Ok(ticket) = TicketRecord::from_value(&value) else {
            let detail = "the record of a ticket does not decode; repair removes it";
            let fix =
                while_same(vec![(key.clone(), Some(value))], move |tx| tx.delete(key.clone()));
            report.derivable(Finding::new(Kind::DamagedRecord, "ticket", detail), fix)?;
            continue;
        };
        let resource = keys::resource(ticket.resource);
        let back = keys::ticket_on(ticket.resource, &key[1..]);
        if !view.has(&resource)? {
            let fix = while_same(vec![(resource, None)], delete_both(key, back));
            let finding =
                Finding::new(Kind::Leftover, ticket.resource, "a ticket for a missing resource");
            report.derivable(finding, fix)?;
        } else if !view.has(&back)? {
            let detail = "a ticket that is not listed with its resource";
            missing(view, report, ticket.resource, detail, (&key, back, Bytes::new()))?;
        }
    }
    Ok(())
}

fn tickets_of_resources(view: &View, report: &mut Report<'_>) -> Result<()> {
    for row in rows(view, &keys::all_tickets_on()) {
        let (key, _) = row?;
        let id = ResourceId(keys::first_id(&key).unwrap_or_default());
        let ticket = keys::ticket(key.get(keys::TICKET_AT..).unwrap_or_default());
        let because = match look::<TicketRecord>(view, &ticket)? {
            Look::Found(found) if found.resource == id => continue,
            Look::Damaged => key.clone(),
            _ => ticket,
        };
        stray(view, report, id, "a ticket that does not exist", (because, &key))?;
    }
    Ok(())
}
