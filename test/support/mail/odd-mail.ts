const bytes = (text: string): Buffer => Buffer.from(text, 'latin1');
const word = (text: string): string => `=?utf-8?B?${Buffer.from(text).toString('base64')}?=`;
const base64 = (text: string): string => Buffer.from(text).toString('base64');

const multipart = (type: string, ...parts: string[]): string =>
  `Content-Type: multipart/${type}; boundary=B\r\n\r\n${parts.map((part) => `--B\r\n${part}\r\n`).join('')}--B--\r\n`;

/** A text and an attachment. */
const attached = (headers: string, content = 'hello'): string =>
  multipart(
    'mixed',
    'Content-Type: text/plain\r\n\r\ntext',
    `${headers}\r\nContent-Transfer-Encoding: base64\r\n\r\n${base64(content)}`,
  );

const wrapped = (depth: number, inner: string, wrap: (inner: string, n: number) => string): string =>
  Array.from({ length: depth }).reduce<string>((text, _, n) => wrap(text, n), inner);

const within = (inner: string, n: number): string =>
  `Content-Type: multipart/mixed; boundary=b${n}\r\n\r\n--b${n}\r\n${inner}\r\n--b${n}--\r\n`;
const forwarded = (inner: string, n: number): string =>
  `Subject: n${n}\r\nContent-Type: multipart/mixed; boundary=c${n}\r\n\r\n--c${n}\r\nContent-Type: message/rfc822\r\nContent-Disposition: attachment; filename=m${n}.eml\r\n\r\n${inner}\r\n--c${n}--\r\n`;

/** A message and expectations about it. */
export interface OddMail {
  name: string;
  raw: Buffer;
  /** Expected members of the message; objects may have more. */
  expected?: Record<string, unknown>;
  /** Expected media types of the downloads. */
  downloads?: { type: string; content?: string }[];
  /** Expected final SMTP code; default 250. */
  reply?: RegExp;
}

const text = (charset: string, subject: string, body: string, expected: string): OddMail => ({
  name: `charset ${charset}`,
  raw: bytes(`Subject: ${subject}\r\nContent-Type: text/plain; charset=${charset}\r\n\r\n${body}\r\n`),
  expected: { text: expect.stringContaining(expected) },
});

const head = (name: string, headers: string, more: Partial<OddMail> = {}): OddMail => ({
  name,
  raw: bytes(`${headers}\r\n\r\nbody\r\n`),
  ...more,
});

const PLAIN = { type: 'application/octet-stream' };
const LONG = 900_000;

/** Odd, broken and hostile messages from real traffic. */
export const ODD_MAIL: OddMail[] = [
  text('ISO-2022-JP', '=?ISO-2022-JP?B?GyRCJUYlOSVIGyhC?=', '\x1b$B%F%9%H\x1b(B', 'テスト'),
  text('windows-1252', '=?windows-1252?Q?=80uro?=', '\x80uro', '€uro'),
  text('GB18030', '=?GB18030?B?1tDOxA==?=', '\xd6\xd0\xce\xc4', '中文'),
  text('utf-7', '=?utf-7?Q?+AOQ-?=', '+AOQ-', 'ä'),
  text('x-klingon', '=?x-klingon?Q?=80?=', 'a\x80', 'a'),
  text('__proto__', '=?__proto__?Q?a?=', 'a', 'a'),
  text('""', 'x', 'a\xff', 'a'),
  {
    name: 'broken base64',
    raw: bytes('Subject: x\r\nContent-Transfer-Encoding: base64\r\n\r\na$$$GVs\r\n=bG8=\r\n!!\r\nQ\r\n'),
    expected: { text: expect.stringContaining('hello') },
  },
  {
    name: 'broken quoted-printable',
    raw: bytes('Content-Transfer-Encoding: quoted-printable\r\n\r\nok=ZZ=\r\n=4\r\n==\r\n='),
    expected: { text: expect.stringContaining('ok') },
  },
  {
    name: 'no boundary',
    raw: bytes('Subject: x\r\nContent-Type: multipart/mixed\r\n\r\n--x\r\n\r\nfoo\r\n'),
    expected: { text: expect.stringContaining('foo') },
  },
  {
    name: 'a charset in <meta> only',
    raw: bytes('Content-Type: text/html\r\n\r\n<meta charset=windows-1251>\xcf\xf0\r\n'),
    expected: { text: expect.stringContaining('Пр') },
  },
  {
    name: 'no end',
    raw: bytes(
      'Content-Type: multipart/mixed; boundary=B\r\n\r\n--B\r\n\r\nfoo\r\n--B\r\nContent-Type: image/png\r\n\r\nabc',
    ),
    expected: { text: expect.stringContaining('foo') },
    downloads: [{ type: 'image/png' }],
  },
  {
    name: 'messages within messages',
    raw: bytes(wrapped(20, 'Subject: i\r\n\r\nx', forwarded)),
    downloads: [PLAIN],
  },
  {
    name: '200 deep',
    raw: bytes(`Subject: deep\r\n${wrapped(200, 'Content-Type: text/plain\r\n\r\ndeep', within)}`),
    expected: { subject: 'deep', text: expect.stringContaining('deep') },
  },
  {
    name: '990 parts',
    raw: bytes(
      multipart('mixed', ...Array.from({ length: 990 }, (_, n) => `Content-Type: image/gif\r\n\r\n${n}`)),
    ),
  },
  {
    name: '1,100 parts',
    raw: bytes(
      multipart('mixed', ...Array.from({ length: 1_100 }, () => `Content-Type: image/gif\r\n\r\nx`)),
    ),
    reply: /^554/,
  },
  {
    name: 'a name in continuations',
    raw: bytes(
      attached(
        `Content-Type: application/pdf\r\nContent-Disposition: attachment; filename*0*=utf-8''%e4%bd; filename*1*=%a0; filename*2=.pdf`,
      ),
    ),
    expected: { attachments: [expect.objectContaining({ filename: '你.pdf' })] },
    downloads: [{ type: 'application/pdf', content: 'hello' }],
  },
  {
    name: 'a name with gaps',
    raw: bytes(
      attached(`Content-Disposition: attachment; filename*7*=x''%zz%; filename*99999999=b; filename**=d`),
    ),
    downloads: [{ type: expect.any(String) as never, content: 'hello' }],
  },
  {
    name: 'a name that is a path',
    raw: bytes(
      attached('Content-Type: image/gif\r\nContent-Disposition: attachment; filename="../../etc/pass\\\\wd"'),
    ),
    downloads: [{ type: 'image/gif', content: 'hello' }],
  },
  {
    name: 'a name that reads backwards',
    raw: bytes(
      attached(
        `Content-Type: application/x-a\r\nContent-Disposition: attachment; filename="${word('ann\u202Efdp.exe\0\r\nX: y')}"`,
      ),
    ),
    downloads: [{ type: 'application/x-a', content: 'hello' }],
  },
  {
    name: 'a name of 500,000 characters',
    raw: bytes(
      attached(
        `Content-Type: image/gif\r\nContent-Disposition: attachment; filename="${'n'.repeat(500_000)}.gif"`,
      ),
    ),
    downloads: [{ type: 'image/gif', content: 'hello' }],
  },
  {
    name: 'attached HTML',
    raw: bytes(attached('Content-Type: text/html; name=x.html', '<script>alert(1)</script>')),
    expected: { text: expect.any(String) },
  },
  {
    name: 'attached HTML as a file',
    raw: bytes(
      attached('Content-Type: text/html\r\nContent-Disposition: attachment; filename=x.html', '<script>'),
    ),
    downloads: [{ ...PLAIN, content: '<script>' }],
  },
  {
    name: 'an attached image that is a script',
    raw: bytes(attached('Content-Type: image/svg+xml; name=x.svg', '<svg onload=alert(1)>')),
    downloads: [{ ...PLAIN, content: '<svg onload=alert(1)>' }],
  },
  {
    name: 'an attachment that looks like a failure',
    raw: bytes(
      attached('Content-Type: application/json; charset=utf-8; name=x.json', '{"error":"x","code":"y"}'),
    ),
    downloads: [{ type: 'application/json', content: '{"error":"x","code":"y"}' }],
  },
  {
    name: 'a type with a header in it',
    raw: bytes(attached(`Content-Type: ${word('image/gif\r\nX-Evil: 1')}`)),
    downloads: [{ ...PLAIN, content: 'hello' }],
  },
  {
    name: 'an invitation',
    raw: bytes(
      multipart(
        'alternative',
        'Content-Type: text/plain\r\n\r\ninvite',
        'Content-Type: text/calendar; method=REQUEST\r\n\r\nBEGIN:VCALENDAR',
      ),
    ),
    expected: { text: expect.stringContaining('invite') },
    downloads: [{ type: 'text/calendar', content: 'BEGIN:VCALENDAR' }],
  },
  {
    name: 'uuencode in the text',
    raw: bytes('Subject: x\r\n\r\nSee:\r\nbegin 644 a b.txt\r\n%:&5L;&\\\r\n`\r\nend\r\nBye\r\n'),
    expected: { text: 'See:\nBye\n', attachments: [{ filename: 'a b.txt' }] },
    downloads: [{ type: 'text/plain', content: 'hello' }],
  },
  {
    name: 'enriched text',
    raw: bytes('Subject: x\r\nContent-Type: text/enriched\r\n\r\n<bold>Hi</bold> <<x>\r\n'),
    expected: { text: 'Hi <x>' },
  },
  {
    name: 'winmail.dat',
    raw: bytes(attached('Content-Type: application/ms-tnef; name=winmail.dat')),
    downloads: [{ type: 'application/ms-tnef', content: 'hello' }],
  },
  {
    name: 'images within HTML',
    raw: bytes(
      multipart(
        'related',
        'Content-Type: text/html\r\n\r\n<img src="cid:a@b"><img src="cid:none">',
        'Content-Type: image/png\r\nContent-ID: <a@b>\r\n\r\npng',
      ),
    ),
    expected: { html: ['<img src="attachment:ATT00001"><img src="cid:none">'] },
    downloads: [{ type: 'image/png', content: 'png' }],
  },
  {
    name: 'flowed text',
    raw: bytes('Content-Type: text/plain; format=flowed; delsp=yes\r\n\r\none \r\ntwo\r\n-- \r\nsig\r\n'),
    expected: { text: expect.stringContaining('onetwo') },
  },
  {
    name: 'HTML alone, of 2 MB',
    raw: bytes(`Content-Type: text/html\r\n\r\n<p>news</p>${'<i>x</i>\r\n'.repeat(200_000)}`),
    expected: { text: expect.stringMatching(/^\s*news/) },
  },
  {
    name: 'scripts',
    raw: bytes('Content-Type: text/html\r\n\r\n<script>alert(1)</script><b>x</b>'),
    expected: { html: [expect.stringContaining('<b>x</b>')] },
  },
  head('a subject without end', `Subject: ${'s'.repeat(LONG)}`),
  head('headers of more than a megabyte', `X-A: ${'s'.repeat(1_200_000)}`, { reply: /^554/ }),
  head('10,000 Received', 'Received: x\r\n'.repeat(10_000) + 'Subject: x', { reply: /^554/ }),
  head('encoded words without end', `Subject: ${'=?utf-8?Q?=E4?=\r\n '.repeat(40_000)}x`),
  head('addresses without end', `To: ${'"a,b" <x@y.example>, '.repeat(40_000)}`),
  head('groups without end', `To: ${'a:'.repeat(LONG / 3)}`),
  head('comments without end', `To: ${'('.repeat(LONG)}`),
  head(
    'parameters without end',
    `Content-Type: text/plain; ${'a*0*=x; '.repeat(60_000)} b=${'"'.repeat(LONG / 9)}`,
  ),
  head(
    'references without end',
    `References: ${'<a@b> '.repeat(LONG / 9)}\r\nMessage-ID: <${'m'.repeat(LONG / 9)}@x>`,
  ),
  head(
    'everything twice',
    'Subject: a\r\nSubject: b\r\nFrom: a@a.example\r\nFrom: b@b.example\r\nDate: x\r\nDate: y\r\nReply-To: a@b.example\r\nReply-To: c@d.example',
  ),
  head('a date that is none', 'Date: Fri, 99 Foo 99999 99:99:99 +9999', {
    expected: { date: expect.any(String) },
  }),
  head('a date far ahead', 'Date: 1 Jan 275000 00:00:00 +0000', { expected: { date: expect.any(String) } }),
  head(
    'words cut within',
    'Subject: =?utf-8?B?w6TDtsO?= =?utf-8?B?8w?= =?utf-8?Q?=C3?= =?utf-8?Q?=A4?= =?utf-8?',
  ),
  head(
    'a word with a header in it',
    `Subject: ${word('a\r\nBcc: x@y\0\u202E')}\r\nFrom: ${word('"evil"<x@y>')} <r@s.example>`,
    {
      expected: { from: { address: 'r@s.example', name: '"evil"<x@y>' } },
    },
  ),
  head(
    'names of the language',
    '__proto__: x\r\nconstructor: y\r\nhasOwnProperty: z\r\ntoString: a\r\nSubject: ph',
    {
      expected: { subject: 'ph' },
    },
  ),
  head('zeros', 'Sub\0ject: n\0\r\nSubject: \0n\r\nFrom: \0@\0\r\nContent-Type: te\0xt/plain; charset=\0'),
  head('lone carriage returns', 'Subject: cr\rBcc: x@y.example\r\rbody\r'),
  { name: 'nothing', raw: bytes(''), expected: { subject: '', text: '' } },
  { name: 'an empty line', raw: bytes('\r\n'), expected: { subject: '' } },
  { name: 'no headers', raw: bytes('\r\nbody'), expected: { text: expect.stringContaining('body') } },
  { name: 'no colon', raw: bytes('garbage\r\nmore garbage\r\n\r\nx') },
  { name: 'no body', raw: bytes('Subject: only'), expected: { subject: 'only' } },
  {
    name: 'lone line feeds',
    raw: bytes('Subject: lf\nFrom: a@b.example\n\nbody\n'),
    expected: { subject: 'lf' },
  },
  {
    name: 'half characters',
    raw: bytes(
      'Content-Type: text/plain; charset=utf-16be\r\nContent-Transfer-Encoding: base64\r\n\r\n2ADYANgA\r\n',
    ),
  },
  {
    name: 'a body that lies elsewhere',
    raw: bytes(
      'Content-Type: message/external-body; access-type=local-file; name="/etc/passwd"\r\n\r\nContent-Type: text/plain\r\n\r\nx',
    ),
    downloads: [PLAIN],
  },
];
