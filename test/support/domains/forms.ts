import type { TestUser } from '../app.ts';
import type { ApiResponse } from '../network/client.ts';

export const option = (id: string, label = id.toUpperCase()) => ({ id, label });

/** A definition with one section. */
export const definitionOf = (questions: object[], logic: object[] = []) => ({
  sections: [{ id: 'main', title: 'Main', questions }],
  logic,
});

export const SIMPLE = definitionOf([
  { id: 'name', type: 'short_text', title: 'Name', required: true },
  { id: 'color', type: 'single_choice', title: 'Colour', options: [option('red'), option('blue')] },
]);

/** Fails with the body of an unexpected response. */
export function ok(response: ApiResponse, status = 200): any {
  expect([response.status, response.status === status ? null : response.body]).toEqual([status, null]);
  return response.body;
}

export async function draft(user: TestUser, definition: object = SIMPLE, fields: object = {}): Promise<any> {
  return ok(await user.api.post('/forms', { title: 'Survey', definition, ...fields }), 201).form;
}

/** A form that accepts responses. */
export async function published(
  user: TestUser,
  definition: object = SIMPLE,
  fields: object = {},
): Promise<any> {
  const { id } = await draft(user, definition, fields);
  return ok(await user.api.post(`/forms/${id}/publish`)).form;
}
