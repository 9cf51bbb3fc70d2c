import { OwnMail } from '../../../src/modules/mail/index.js';
import type { TestApp } from '../app.ts';

type Send = OwnMail['send'];

/** Replaces the next sending of a mail by an application. Later ones are as usual. @param send sends the mail */
export function replaceNextSend(
  app: TestApp,
  next: (send: () => ReturnType<Send>) => ReturnType<Send>,
): void {
  const own = app.get(OwnMail);
  const usual = own.send.bind(own);
  own.send = (...parameters) => {
    own.send = usual;
    return next(() => usual(...parameters));
  };
}

/** Holds the next sending of a mail by an application until `finish` is called. */
export function holdNextSend(app: TestApp): { started: Promise<void>; finish: () => void } {
  const [started, finish] = [Promise.withResolvers<void>(), Promise.withResolvers<void>()];
  replaceNextSend(app, async (send) => {
    started.resolve();
    await finish.promise;
    return send();
  });
  return { started: started.promise, finish: () => finish.resolve() };
}
