/** The HTTP API as the first demo user, with one calendar, one task folder and one address book of the test, and an application password. */
export class Api {
  static async of({ docs, token, emails }) {
    const api = new Api();
    api.origin = new URL(docs).origin;
    api.token = token;
    api.email = emails[0];
    const { password } = await api.call('POST', '/settings/application-passwords', {
      description: 'Programs',
      scopes: ['caldav', 'carddav'],
    });
    api.password = password;
    api.calendar = (await api.call('POST', '/calendar', { name: 'Programs' })).calendar.id;
    api.list = (await api.call('POST', '/task_folders', { name: 'Programs' })).folder.id;
    api.book = (await api.call('POST', '/contact/addressbooks', { name: 'Programs' })).addressbook.id;
    return api;
  }

  async call(method, target, body) {
    const response = await fetch(`${this.origin}/apis/v1${target}`, {
      method,
      headers: { authorization: `Bearer ${this.token}`, 'content-type': 'application/json' },
      ...(body && { body: JSON.stringify(body) }),
    });
    const text = await response.text();
    if (!response.ok) throw new Error(`${method} ${target}: ${response.status} ${text}`);
    return JSON.parse(text);
  }

  /** All events of the calendar, by UID. */
  async events() {
    const found = new Map();
    let token = null;
    for (let more = true; more;) {
      const page = await this.call('POST', `/calendar/${this.calendar}/sync`, {
        sync_token: token,
        limit: 500,
      });
      for (const { event } of page.changes) if (event) found.set(event.uid, event);
      ({ more, sync_token: token } = page);
    }
    return found;
  }

  /** All tasks of the list, by id. */
  async tasks() {
    const found = new Map();
    let cursor = '';
    do {
      const page = await this.call('GET', `/tasks?folder_id=${this.list}&limit=100${cursor}`);
      for (const task of page.tasks) found.set(task.id, task);
      cursor = page.next === null ? '' : `&cursor=${encodeURIComponent(page.next)}`;
    } while (cursor !== '');
    return found;
  }

  /** All contacts of the book, by UID. */
  async contacts() {
    const found = new Map();
    let cursor = '';
    do {
      const page = await this.call('GET', `/contact/addressbooks/${this.book}/contacts?limit=200${cursor}`);
      for (const contact of page.contacts) found.set(contact.uid, contact);
      cursor = page.next === null ? '' : `&cursor=${encodeURIComponent(page.next)}`;
    } while (cursor !== '');
    return found;
  }
}
