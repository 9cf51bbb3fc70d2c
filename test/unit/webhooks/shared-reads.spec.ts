import { QueueStatements } from '../../../src/modules/webhooks/sending/queues.repository.js';
import { WebhookSecrets } from '../../../src/modules/webhooks/webhook-secrets.js';

describe('what runs share', () => {
  test('two runs of a webhook, of which one has taken over the lease, read each delivery once, and as many as they want', async () => {
    const asked: unknown[] = [];
    const queues: any = {
      rolesOf: async () => new Map([['owner', 'member']]),
      readDue: async (_: string, sizes: Map<string, number>) => {
        asked.push([...sizes]);
        return new Map([['hook', [{ id: '1' }, { id: '2' }, { id: '3' }]]]);
      },
    };
    const webhooks: any = { readActive: async () => new Map([['hook', { owner_id: 'owner' }]]) };
    const statements = new QueueStatements(queues, webhooks);
    const found = await Promise.all([2, 3, 1].map((size) => statements.next('tenant', 'hook', size)));
    expect(asked).toEqual([[['hook', 3]]]);
    expect(found.map((next) => next?.batch.map(({ id }) => id))).toEqual([
      ['1', '2'],
      ['1', '2', '3'],
      ['1'],
    ]);
  });

  test('opened keys of a webhook: the previous one signs until its end only', () => {
    const box: any = {
      open: (_use: string, _context: string, sealed: string) => Buffer.from(`whsec_${sealed}`),
    };
    const secrets = new WebhookSecrets(box, {} as any, {} as any, { secretKeys: [] } as any);
    const webhook = {
      tenant_id: 'tenant',
      id: 'hook',
      secret: 'bmV3',
      previous_secret: 'b2xk',
      previous_until: new Date(Date.now() + 60_000),
    };
    const texts = () => secrets.keysOf(webhook).map((key) => key.export().toString());
    expect(texts()).toEqual(['new', 'old']);
    webhook.previous_until.setTime(Date.now() - 1_000);
    expect(texts()).toEqual(['new']);
  });
});
