import type { Created, DemoClient } from './demo-client.js';
import type { DemoClients } from './demo-content.js';

const RESPONSES = 200;
/** Submissions at the same time. */
const PARALLEL = 4;

const option = (id: string, label: string) => ({ id, label });

const DEFINITION = {
  sections: [
    {
      id: 'day',
      title: 'Your day at the office',
      questions: [
        {
          id: 'days',
          type: 'multiple_choice',
          title: 'On which days are you at the office?',
          required: true,
          options: [
            option('mon', 'Monday'),
            option('tue', 'Tuesday'),
            option('wed', 'Wednesday'),
            option('thu', 'Thursday'),
            option('fri', 'Friday'),
          ],
        },
        {
          id: 'travel',
          type: 'dropdown',
          title: 'How do you travel?',
          options: [option('bike', 'Bicycle'), option('train', 'Train'), option('car', 'Car')],
        },
        {
          id: 'minutes',
          type: 'number',
          title: 'Minutes on the way',
          validation: { min: 0, max: 240, integer: true },
        },
      ],
    },
    {
      id: 'canteen',
      title: 'The canteen',
      questions: [
        { id: 'lunch', type: 'rating', title: 'How is the lunch?', settings: { max: 5 } },
        { id: 'recommend', type: 'nps', title: 'Would you recommend it to a friend?', required: true },
        { id: 'why', type: 'short_text', title: 'What should be better?' },
      ],
    },
  ],
  logic: [
    {
      id: 'why-of-detractors',
      action: 'show',
      target: 'why',
      conditions: [{ question: 'recommend', operator: 'at_most', value: 6 }],
    },
  ],
};

const COMMENTS = ['More vegetables', 'Shorter queues', 'Better coffee', 'A larger terrace'];
const DAYS = ['mon', 'tue', 'wed', 'thu', 'fri'];

/** Different answers for each number, the same at each start. */
function answersOf(n: number): object {
  const recommend = (n * 7 + (n % 3)) % 11;
  return {
    days: DAYS.filter((_, day) => (n + day * day) % 3 !== 0),
    travel: ['bike', 'train', 'car', 'train'][n % 4],
    minutes: 5 + ((n * 13) % 70),
    lunch: 1 + ((n * 3) % 5),
    recommend,
    ...(recommend <= 6 && { why: COMMENTS[n % COMMENTS.length] }),
  };
}

/** A form with responses and a report that all users read. */
export async function createForms({ alice, ...others }: DemoClients): Promise<void> {
  const colleagues: DemoClient[] = Object.values(others);
  const title = 'Office and canteen';
  const description = 'How do we work, travel and eat? Two minutes.';
  const { form } = await alice.post<Created<'form'>>('/forms', {
    title,
    description,
    definition: DEFINITION,
  });
  const path = `/forms/${form.id}`;
  await alice.post(`${path}/publish`);
  await alice.put(`${path}/access`, {
    access: colleagues.map(({ id }) => ({ user_id: id, role: 'respondent' })),
  });
  const users = [alice, ...colleagues];
  const submit = async (first: number): Promise<void> => {
    for (let n = first; n < RESPONSES; n += PARALLEL)
      await users[n % users.length]!.post(`${path}/submit`, { answers: answersOf(n) });
  };
  await Promise.all(Array.from({ length: PARALLEL }, (_, first) => submit(first)));
  const definition = {
    columns: ['travel', 'minutes', 'lunch'],
    group_by: 'travel',
    metrics: [{ question: 'minutes', function: 'mean' }],
    charts: [{ question: 'travel', kind: 'pie' }],
    suppress_below: 5,
  };
  const { report } = await alice.post<Created<'report'>>(`${path}/reports`, {
    name: 'Ways to work',
    definition,
  });
  await alice.post(`${path}/reports/${report.id}/share`, {
    viewers: users.map(({ id }) => ({ user_id: id })),
    expose: { form: true },
  });
}
