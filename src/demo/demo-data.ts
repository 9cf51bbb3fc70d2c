export const DEMO_TENANT = { slug: 'demo', name: 'Demo Workspace', domains: ['demo.example'] };

/** Public: the demo workspace is for trying things out, never for real data. */
export const DEMO_PASSWORD = 'demo workspace password';

export const DEMO_USERS = [
  { email: 'alice@demo.example', name: 'Alice Martin', role: 'owner' },
  { email: 'bob@demo.example', name: 'Bob Okafor', role: 'admin' },
  { email: 'carol@demo.example', name: 'Carol Nguyen', role: 'member' },
] as const;

/** First names of the users, which the content refers to. */
export type DemoName = 'alice' | 'bob' | 'carol';

export const SIGNATURE = (name: string): string => `<p>${name}<br>Demo Workspace</p>`;

export const GROUPS: { name: string; permissions: string[]; members: DemoName[] }[] = [
  { name: 'Office', permissions: ['forms.create'], members: ['bob', 'carol'] },
  { name: 'Research', permissions: ['forms.create', 'calls.start'], members: ['carol'] },
];
