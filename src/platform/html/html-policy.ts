import { Injectable, type OnModuleDestroy } from '@nestjs/common';
import { cleanHtml, isPlainlyClean } from '../../lib/html/index.js';
import { HtmlWorkerPool } from './html-worker-pool.js';

export { HtmlTooComplexError } from '../../lib/html/index.js';

/** Texts from this length on that need the parser are checked in a worker thread. Characters. */
const LARGE = 64 * 1024;

/**
 * Applies the HTML policy when a text is stored, not when it is read. Clean text is stored unchanged, because editors compare,
 * hash and diff their texts.
 */
@Injectable()
export class HtmlPolicy implements OnModuleDestroy {
  private readonly pool = new HtmlWorkerPool();

  /**
   * Returns the input when it is clean, the cleaned text otherwise.
   *
   * @throws HtmlTooComplexError when the text is too deep, too large or takes too long
   * @throws QueueFullError when the queue of large texts is full
   */
  async check(html: string): Promise<string> {
    if (isPlainlyClean(html)) return html;
    return html.length < LARGE ? cleanHtml(html) : this.pool.run(html);
  }

  async onModuleDestroy(): Promise<void> {
    await this.pool.close();
  }
}
