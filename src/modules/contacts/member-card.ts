import type { ContactCard } from './card.types.js';
import { written } from './contact-card.js';

/** A member with their profile; the profile's columns are null for a member who has never written it. */
export interface MemberRow {
  user_id: string;
  email: string;
  display_name: string;
  given_name: string | null;
  family_name: string | null;
  title: string | null;
  phone: string | null;
  timezone: string | null;
  locale: string | null;
}

/**
 * The card of a member: the fields of the membership and the profile replace those of the card. The address of the membership is
 * the first one, and the telephone number of the profile is the first number.
 * @param before the card as it is, or an empty one
 * @param formerEmail the address of the membership in that card
 */
export function memberCard(member: MemberRow, before: ContactCard, formerEmail?: string): ContactCard {
  const { email, phone } = member;
  const [first, ...numbers] = before.phones;
  const country = member.locale ? (new Intl.Locale(member.locale).region ?? null) : null;
  const own = { ...(first ?? { types: ['work'] }), value: phone ?? '', e164: null };
  return written(
    {
      full_name: member.display_name,
      name: { ...before.name, given: member.given_name, family: member.family_name },
      job_title: member.title,
      emails: [
        { value: email, types: ['work'], primary: true },
        ...before.emails.filter(({ value }) => value !== email && value !== formerEmail),
      ],
      phones: first?.value === phone ? before.phones : [...(phone ? [own] : []), ...numbers],
      time_zone: member.timezone,
      language: member.locale,
    },
    before,
    country,
  );
}
