import type { Created, DemoClient } from './demo-client.js';
import type { DemoName } from './demo-data.js';

const DAY_MS = 86_400_000;
const ZONE = 'Europe/Berlin';
/** The stand-up began 40 weeks ago, so that clock changes occur before and after today. */
const STANDUP_DAYS = -40 * 7;

/** The day `inDays` days from today; the following Monday for a Saturday or Sunday. */
function workday(inDays: number): string {
  const day = new Date(Date.now() + inDays * DAY_MS);
  const weekend = { 0: 1, 6: 2 }[day.getUTCDay()] ?? 0;
  return new Date(day.getTime() + weekend * DAY_MS).toISOString().slice(0, 10);
}

const at = (day: string, time: string) => ({ date_time: `${day}T${time}:00`, time_zone: ZONE });

/** Calendars: a shared one of the team with a daily stand-up, a meeting with responses, a trip, and private time. */
export async function createCalendars(clients: Record<DemoName, DemoClient>): Promise<void> {
  const { alice, bob, carol } = clients;
  const { calendar } = await alice.post<Created<'calendar'>>('/calendar', {
    name: 'Team',
    description: 'Meetings of the team',
    color: '#27ae60',
    time_zone: ZONE,
    shares: [
      { user_id: bob.id, role: 'writer' },
      { user_id: carol.id, role: 'reader' },
    ],
  });
  const events = `/calendar/${calendar.id}/events`;
  const standUp = await alice.post<Created<'event'>>(events, {
    title: 'Stand-up',
    description: 'Yesterday, today, obstacles.',
    start: at(workday(STANDUP_DAYS), '09:15'),
    duration: 'PT15M',
    recurrence: { rules: ['FREQ=WEEKLY;BYDAY=MO,TU,WE,TH,FR'] },
    conference: { url: 'https://meet.demo.example/team' },
    categories: ['team'],
  });
  const moved = workday(7);
  await alice.put(`${events}/${standUp.event.id}`, {
    scope: 'this',
    recurrence_id: at(moved, '09:15'),
    title: 'Stand-up in the afternoon',
    start: at(moved, '15:00'),
  });
  await bob.post(events, {
    title: 'Release 2.0',
    start: workday(21),
    show_as: 'free',
    categories: ['milestone'],
  });
  await meeting(clients);
  const { poll } = await alice.post<Created<'poll'>>('/calendar/polls', {
    title: 'Team dinner',
    time_zone: ZONE,
    duration_minutes: 120,
    options: [10, 17, 24].map((days) => ({ start: `${workday(days)}T19:00:00` })),
    participants: [{ user_id: bob.id }, { user_id: carol.id }],
  });
  const { poll: read } = await bob.call<{ poll: { options: { id: string }[] } }>(
    'GET',
    `/calendar/polls/${poll.id}`,
  );
  await bob.post(`/calendar/polls/${poll.id}/vote`, {
    votes: read.options.map(({ id }, n) => ({ option_id: id, answer: n === 1 ? 'yes' : 'if_needed' })),
  });
  await carol.post(`/calendar/${await ownCalendar(carol)}/events`, {
    title: 'Trip to Lisbon',
    location: 'Lisbon',
    start: workday(14),
    duration: 'P3D',
    show_as: 'out_of_office',
  });
  await bob.post(`/calendar/${await ownCalendar(bob)}/events`, {
    title: 'Focus time',
    start: at(workday(1), '13:00'),
    duration: 'PT2H',
    recurrence: { rules: ['FREQ=WEEKLY;COUNT=26'] },
    visibility: 'private',
  });
}

/** A meeting that Bob has accepted and for which Carol proposes another time. */
async function meeting({ alice, bob, carol }: Record<DemoName, DemoClient>): Promise<void> {
  const day = workday(3);
  const { event } = await alice.post<Created<'event'>>(`/calendar/${await ownCalendar(alice)}/events`, {
    title: 'Quarterly review',
    description: 'Agenda: figures, plans, questions.',
    location: 'Room 1',
    start: at(day, '10:00'),
    duration: 'PT1H',
    attendees: [{ user_id: bob.id }, { user_id: carol.id, role: 'optional' }],
  });
  await bob.put(`/calendar/${await ownCalendar(bob)}/events/${event.id}/rsvp`, {
    response: 'accepted',
    comment: 'I bring the figures.',
  });
  await carol.post(`/calendar/${await ownCalendar(carol)}/events/${event.id}/proposals`, {
    start: at(day, '14:00'),
    end: at(day, '15:00'),
    comment: 'My train arrives at noon.',
  });
}

async function ownCalendar(client: DemoClient): Promise<string> {
  const { calendars } = await client.call<{ calendars: { id: string; is_default: boolean }[] }>(
    'GET',
    '/calendar',
  );
  return calendars.find(({ is_default }) => is_default)?.id as string;
}
