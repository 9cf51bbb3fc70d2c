import type { Versions } from './conflicts.js';
import { showContent } from './content.js';
import { button, byId, create } from './dom.js';

/** Both versions of a note beside each other. */
export class ConflictPanel {
  private readonly panel = byId('conflict');
  private shown: string | undefined;

  /** @param keep called with the fields of the chosen version */
  constructor(private readonly keep: (fields: { title?: string; content?: string }) => Promise<void>) {}

  /** @param versions undefined hides the panel */
  show(versions: Versions | undefined): void {
    const key = JSON.stringify(versions);
    if (key === this.shown) return;
    this.shown = key;
    this.panel.hidden = versions === undefined;
    byId('versions').replaceChildren(
      ...(versions
        ? [
            this.version('Your version', versions, 'mine'),
            this.version('The other version', versions, 'theirs'),
          ]
        : []),
    );
  }

  private version(name: string, versions: Versions, side: 'mine' | 'theirs'): HTMLElement {
    const list = create('dl', 'text');
    const fields: { title?: string; content?: string } = {};
    if (versions.title) {
      fields.title = versions.title[side];
      list.append(create('dt', '', 'Title'), create('dd', '', fields.title));
    }
    if (versions.content) {
      fields.content = versions.content[side];
      const text = create('dd', '');
      showContent(text, fields.content);
      list.append(create('dt', '', 'Text'), text);
    }
    const choice = button(side === 'mine' ? 'Keep mine' : 'Keep theirs', '', () => this.keep(fields));
    return create('article', '', create('h4', '', name), list, choice);
  }
}
