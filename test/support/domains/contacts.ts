import type { TestUser } from '../app.ts';

/**
 * Imports vCards, and expects a 200.
 * @param query of the import, such as `addressbook_id` and `device_id`
 * @returns the import
 */
export async function importCards(user: TestUser, raw: string, query: Record<string, string>): Promise<any> {
  const path = `/contact/phone-sync/import?${new URLSearchParams(query).toString()}`;
  const headers = { 'content-type': 'text/vcard' };
  const { status, body } = await user.api.request('POST', path, { raw, headers });
  expect([status, body.error]).toEqual([200, undefined]);
  return body.import;
}
