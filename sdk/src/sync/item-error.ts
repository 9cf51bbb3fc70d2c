/** A change of an object that the device does not have, or of one in the trash. Nothing is saved. */
export class ItemError extends Error {
  override readonly name = 'ItemError';

  constructor(readonly code: 'not_found' | 'deleted') {
    super(code === 'deleted' ? 'The object is in the trash: restore it first.' : 'There is no such object.');
  }
}
