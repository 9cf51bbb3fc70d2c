import { Endpoint } from '../../../src/platform/http/endpoint.js';
import { JsonReply, withMembers } from '../../../src/platform/http/json-reply.js';
import { ReadOperation } from '../../../src/platform/resources/operations.js';
import { type ReplyOf, resource } from '../../../src/platform/resources/resource.js';
import { BodyReply } from '../../../src/platform/http/replies/body-reply.js';

class Item {
  id!: string;
}
class ItemEnvelope {
  item!: Item;
}
class ItemWithRoleEnvelope extends ItemEnvelope {
  role!: 'owner' | 'viewer';
}
class ItemListEnvelope {
  items!: Item[];
  next!: string | null;
}
class TwoListsEnvelope {
  items!: Item[];
  others!: Item[];
}
class RoomEnvelope {
  room!: Item;
}

const docs = { tag: 'items', id: 'readItem', summary: 'Read', description: 'Reads.' };
const handler = <Value>(value: Value): TypedPropertyDescriptor<() => Promise<Value>> => ({
  value: async () => value,
});
const item = handler(JsonReply.of<ItemEnvelope>({ item: { id: '1' } }));
const itemWithRole = handler(JsonReply.of<ItemWithRoleEnvelope>({ item: { id: '1' }, role: 'owner' }));
const room = handler(JsonReply.of<RoomEnvelope>({ room: { id: '1' } }));
const text = handler(JsonReply.ofText('{"item":{"id":"1"}}'));
const itemObject = handler({ item: { id: '1' } });
const roomObject = handler({ room: { id: '1' } });
const file = handler(new BodyReply(null, { contentType: 'text/plain' }));

// `npm run types` reads the comments `@ts-expect-error`: it fails where the line below compiles.
describe('types of responses', () => {
  test('a handler returns the documented class', () => {
    const accepts = (): void => {
      const decorate = Endpoint('GET :id', { ...docs, response: [ItemEnvelope, 'The item.'] });
      decorate({}, 'read', item);
      decorate({}, 'read', itemObject);
      // @ts-expect-error The response of another resource.
      decorate({}, 'read', room);
      // @ts-expect-error A further member, which the class does not have.
      decorate({}, 'read', itemWithRole);
      // @ts-expect-error A text without a class.
      decorate({}, 'read', text);
      // @ts-expect-error The member is missing.
      decorate({}, 'read', roomObject);
      // @ts-expect-error A file, which the endpoint does not declare.
      decorate({}, 'read', file);
    };
    expect(accepts).toBeDefined();
  });

  test('an endpoint without a response class returns files only', () => {
    const accepts = (): void => {
      const decorate = Endpoint('GET :id', docs);
      const decorateBoth = Endpoint<ItemEnvelope, BodyReply>('GET :id', docs);
      decorate({}, 'read', file);
      // @ts-expect-error JSON.
      decorate({}, 'read', item);
      // @ts-expect-error JSON of an object.
      decorate({}, 'read', itemObject);
      decorateBoth({}, 'read', file);
      decorateBoth({}, 'read', item);
    };
    expect(accepts).toBeDefined();
  });

  test('a reply has the members of its class', () => {
    const role = JsonReply.ofTexts<ItemWithRoleEnvelope, 'item'>(
      { item: '{"id":"1"}' },
      {},
      { role: 'owner' },
    );
    expect(role.json).toBe('{"item":{"id":"1"},"role":"owner"}');
    const list = JsonReply.listOf<ItemListEnvelope>('items', ['{"id":"1"}'], { next: null });
    expect(list.json.toString()).toBe('{"items":[{"id":"1"}],"next":null}');
    expect(withMembers('{"id":"1"}', { score: 2 })).toBe('{"id":"1","score":2}');

    const rejects = (): void => {
      // @ts-expect-error A member is missing.
      JsonReply.of<ItemListEnvelope>({ items: [] });
      // @ts-expect-error A further member.
      JsonReply.of<ItemListEnvelope>({ items: [], next: null, total: 0 });
      // @ts-expect-error The class of the reply is that of the annotation, not that of the value.
      const wide: JsonReply<ItemListEnvelope> = JsonReply.of({ items: [], next: null, total: 0 });
      // @ts-expect-error The text of a member is missing.
      JsonReply.ofTexts<ItemWithRoleEnvelope>({ item: '{}' });
      // @ts-expect-error The class has no such member.
      JsonReply.ofTexts<ItemEnvelope>({ item: '{}', role: '"owner"' });
      // @ts-expect-error The other members are missing.
      JsonReply.ofTexts<ItemWithRoleEnvelope, 'item'>({ item: '{}' });
      // @ts-expect-error The name of the list is not that of the class.
      JsonReply.listOf<ItemListEnvelope>('rooms', [], { next: null });
      // @ts-expect-error The other members are missing.
      JsonReply.listOf<ItemListEnvelope>('items', [], {});
      // @ts-expect-error One of two lists is missing.
      JsonReply.listOf<TwoListsEnvelope>('items', [], {});
      // @ts-expect-error Only the functions above make replies.
      const own = new JsonReply<ItemEnvelope>('{}');
      return void [wide, own];
    };
    expect(rejects).toBeDefined();
  });

  test('a resource has the names of its members', () => {
    const options = { tag: 'items', path: 'items', item: Item, notFound: 'You have no such item.' };
    const BIG_ITEMS = resource({ ...options, name: 'big item', alias: ['item', 'items'] });
    const shown: ReplyOf<typeof BIG_ITEMS, 'item'> = BIG_ITEMS.response({ id: '1' });
    const listed: ReplyOf<typeof BIG_ITEMS, 'list'> = BIG_ITEMS.page([{ id: '1' }], null);
    expect([shown.json, listed.json.toString()]).toEqual([
      '{"item":{"id":"1"},"big_item":{"id":"1"}}',
      '{"items":[{"id":"1"}],"big_items":[{"id":"1"}],"next":null}',
    ]);
    const a = { id: '1' };
    const rejects = (): void => {
      const decorate = ReadOperation(BIG_ITEMS, { description: 'Reads.' });
      decorate({}, 'read', handler(shown));
      // @ts-expect-error The list.
      decorate({}, 'read', handler(listed));
      // @ts-expect-error The item has no second name.
      decorate({}, 'read', item);
      // @ts-expect-error The deleted item has a further member.
      const same: typeof shown = BIG_ITEMS.deleted({ id: '1' });
      // @ts-expect-error The further member is missing.
      const withRole: JsonReply<{ item: Item; big_item: Item; role: string }> = BIG_ITEMS.response(a);
      // @ts-expect-error A member of the item is missing.
      return void [same, withRole, BIG_ITEMS.response({})];
    };
    expect(rejects).toBeDefined();
  });
});
