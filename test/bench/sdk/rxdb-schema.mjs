/** Notes in RxDB. Without a validator, it stores further fields too. */
export const NOTE_SCHEMA = {
  version: 0,
  primaryKey: 'id',
  type: 'object',
  properties: {
    id: { type: 'string', maxLength: 36 },
    title: { type: 'string' },
    content: { type: 'string' },
    labels: { type: 'array', items: { type: 'string' } },
  },
  required: ['id'],
};
