export const DEMO_ADDRESSBOOK = { name: 'Partners', color: '#27ae60', default_country: 'CZ' };

/** Contacts of the category `partners` are in the shared address book. */
export const CONTACTS = [
  {
    external_id: 'maria-silva',
    name: { given: 'Maria', family: 'Silva' },
    organization: { name: 'Acme', units: ['Research'] },
    job_title: 'Head of Research',
    emails: [{ value: 'maria.silva@partner.example', types: ['work'], primary: true }],
    phones: [{ value: '601 123 456', types: ['cell'] }],
    addresses: [
      { street: 'Street 1', locality: 'Prague', postal_code: '110 00', country_code: 'CZ', types: ['work'] },
    ],
    dates: [{ type: 'birthday', month: 4, day: 30 }],
    categories: ['partners'],
  },
  {
    external_id: 'acme',
    kind: 'org',
    organization: { name: 'Acme' },
    phones: ['+420 224 000 000'],
    urls: ['https://partner.example'],
    categories: ['partners'],
  },
  {
    external_id: 'wang-xiaoming',
    full_name: '王小明',
    emails: ['wang@partner.example'],
    notes: 'Speaks at the offsite.',
    categories: ['speakers'],
  },
  {
    external_id: 'jose-angstrom',
    full_name: 'José Ångström',
    nicknames: ['Pepe'],
    phones: [{ value: '+46 8 123 456 78', types: ['home'] }],
    categories: ['friends'],
  },
];

/** The contacts of the phone of each user. */
export const PHONE_CONTACTS = [
  { external_id: 'home', full_name: 'Home', phones: [{ value: '+49 30 901820', types: ['home'] }] },
  { external_id: 'taxi', full_name: 'Taxi', phones: [{ value: '+49 30 202020', types: ['work'] }] },
];

export const SELF_CARD = { organization: { name: 'Demo Workspace', units: ['Research'] }, nicknames: ['Al'] };
