// The suites of the browser, with one count at the end. Arguments name suites, e.g. `npm run test:browser -- forms`.
import { chat } from './chat/chat.mjs';
import { client } from './client/client.mjs';
import { guide } from './client/guide.mjs';
import { company } from './company/company.mjs';
import { issuer } from './company/issuer.mjs';
import { example } from './example.mjs';
import { forms } from './forms.mjs';
import { mail } from './mail.mjs';
import { mails } from './mails.mjs';
import { runSuites } from './support/steps.mjs';
import { push } from './push.mjs';
import { page } from './swagger-ui.mjs';

const SUITES = { page, mail, mails, forms, chat, client, guide, example, push, company, issuer };
const chosen = process.argv.length > 2 ? process.argv.slice(2) : Object.keys(SUITES);

process.exitCode = await runSuites(chosen.map((name) => SUITES[name]));
