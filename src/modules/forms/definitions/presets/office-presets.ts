import { COMMENTS, EMAIL, NAME, type PresetSource, showIf, YES_NO } from './preset-texts.js';

/** Presets for events and for requests within an organisation. */
export const OFFICE_PRESETS: readonly PresetSource[] = [
  {
    id: 'event-rsvp',
    category: 'events',
    title: ['Event reply', 'Rückmeldung zur Veranstaltung', 'Confirmação de presença', 'Xác nhận tham dự'],
    description: [
      'Who attends the event?',
      'Wer nimmt teil?',
      'Quem vai ao evento?',
      'Ai sẽ tham dự sự kiện?',
    ],
    questions: [
      NAME,
      {
        id: 'attending',
        type: 'single_choice',
        title: ['Will you attend?', 'Nehmen Sie teil?', 'Vai participar?', 'Bạn sẽ tham dự chứ?'],
        required: true,
        options: YES_NO,
      },
      {
        id: 'guests',
        type: 'number',
        title: ['Number of guests', 'Anzahl der Gäste', 'Número de acompanhantes', 'Số khách đi cùng'],
        validation: { min: 0, max: 10, integer: true },
      },
      {
        id: 'diet',
        type: 'multiple_choice',
        title: ['Dietary requirements', 'Ernährung', 'Restrições alimentares', 'Yêu cầu ăn uống'],
        options: [
          ['vegetarian', ['Vegetarian', 'Vegetarisch', 'Vegetariano', 'Ăn chay']],
          ['vegan', ['Vegan', 'Vegan', 'Vegano', 'Thuần chay']],
          ['gluten', ['Gluten-free', 'Glutenfrei', 'Sem glúten', 'Không gluten']],
        ],
      },
    ],
    logic: [showIf('guests', 'attending', 'yes'), showIf('diet', 'attending', 'yes')],
  },
  {
    id: 'event-registration',
    category: 'events',
    title: ['Event registration', 'Anmeldung zur Veranstaltung', 'Inscrição no evento', 'Đăng ký sự kiện'],
    description: [
      'Registration with consent.',
      'Anmeldung mit Einwilligung.',
      'Inscrição com consentimento.',
      'Đăng ký kèm đồng ý.',
    ],
    questions: [
      NAME,
      EMAIL,
      { id: 'phone', type: 'phone', title: ['Telephone', 'Telefon', 'Telefone', 'Điện thoại'] },
      {
        id: 'session',
        type: 'dropdown',
        title: ['Session', 'Termin', 'Sessão', 'Phiên'],
        required: true,
        options: [
          ['morning', ['Morning', 'Vormittag', 'Manhã', 'Buổi sáng']],
          ['afternoon', ['Afternoon', 'Nachmittag', 'Tarde', 'Buổi chiều']],
        ],
      },
      {
        id: 'consent',
        type: 'consent',
        title: [
          'I agree to the processing of my data for this event',
          'Ich stimme der Verarbeitung meiner Daten für diese Veranstaltung zu',
          'Concordo com o tratamento dos meus dados para este evento',
          'Tôi đồng ý cho xử lý dữ liệu của tôi cho sự kiện này',
        ],
        required: true,
      },
    ],
  },
  {
    id: 'leave-request',
    category: 'people',
    title: ['Leave request', 'Urlaubsantrag', 'Pedido de férias', 'Đơn xin nghỉ phép'],
    description: ['Days of absence.', 'Abwesenheitstage.', 'Dias de ausência.', 'Ngày vắng mặt.'],
    questions: [
      {
        id: 'kind',
        type: 'dropdown',
        title: ['Kind of leave', 'Art der Abwesenheit', 'Tipo de ausência', 'Loại nghỉ'],
        required: true,
        options: [
          ['vacation', ['Vacation', 'Urlaub', 'Férias', 'Nghỉ phép']],
          ['sick', ['Sick leave', 'Krankheit', 'Doença', 'Nghỉ ốm']],
          ['other', ['Other', 'Sonstiges', 'Outro', 'Khác']],
        ],
      },
      { id: 'days', type: 'date_range', title: ['Days', 'Zeitraum', 'Período', 'Thời gian'], required: true },
      {
        id: 'certificate',
        type: 'file',
        title: ['Certificate', 'Bescheinigung', 'Atestado', 'Giấy chứng nhận'],
        settings: { max_files: 1, content_types: ['application/pdf', 'image/*'] },
      },
      COMMENTS,
    ],
    logic: [showIf('certificate', 'kind', 'sick')],
  },
  {
    id: 'incident-report',
    category: 'operations',
    title: ['Incident report', 'Störungsmeldung', 'Relatório de incidente', 'Báo cáo sự cố'],
    description: [
      'What happened, when and how severe?',
      'Was ist wann passiert?',
      'O que aconteceu e quando?',
      'Chuyện gì đã xảy ra, khi nào?',
    ],
    questions: [
      { id: 'day', type: 'date', title: ['Date', 'Datum', 'Data', 'Ngày'], required: true },
      { id: 'time', type: 'time', title: ['Time', 'Uhrzeit', 'Hora', 'Giờ'] },
      {
        id: 'severity',
        type: 'single_choice',
        title: ['Severity', 'Schweregrad', 'Gravidade', 'Mức độ'],
        required: true,
        options: [
          ['low', ['Low', 'Gering', 'Baixa', 'Thấp']],
          ['medium', ['Medium', 'Mittel', 'Média', 'Trung bình']],
          ['high', ['High', 'Hoch', 'Alta', 'Cao']],
        ],
      },
      {
        id: 'description',
        type: 'long_text',
        title: ['Description', 'Beschreibung', 'Descrição', 'Mô tả'],
        required: true,
      },
      {
        id: 'photos',
        type: 'file',
        title: ['Photos', 'Fotos', 'Fotografias', 'Hình ảnh'],
        settings: { max_files: 5, content_types: ['image/*'] },
      },
    ],
  },
  {
    id: 'contact',
    category: 'general',
    title: ['Contact', 'Kontakt', 'Contacto', 'Liên hệ'],
    description: [
      'A message with contact details.',
      'Eine Nachricht mit Kontaktdaten.',
      'Uma mensagem com os dados de contacto.',
      'Tin nhắn kèm thông tin liên hệ.',
    ],
    questions: [
      NAME,
      EMAIL,
      { id: 'website', type: 'url', title: ['Website', 'Website', 'Site', 'Trang web'] },
      {
        id: 'message',
        type: 'long_text',
        title: ['Message', 'Nachricht', 'Mensagem', 'Nội dung'],
        required: true,
      },
    ],
  },
  {
    id: 'job-application',
    category: 'people',
    title: ['Job application', 'Bewerbung', 'Candidatura', 'Đơn ứng tuyển'],
    description: [
      'Application with a CV.',
      'Bewerbung mit Lebenslauf.',
      'Candidatura com currículo.',
      'Ứng tuyển kèm sơ yếu lý lịch.',
    ],
    questions: [
      NAME,
      EMAIL,
      {
        id: 'start',
        type: 'date',
        title: ['Earliest start', 'Frühester Beginn', 'Início mais cedo', 'Ngày có thể bắt đầu'],
      },
      {
        id: 'cv',
        type: 'file',
        title: ['CV (PDF)', 'Lebenslauf (PDF)', 'Currículo (PDF)', 'Sơ yếu lý lịch (PDF)'],
        required: true,
        settings: { max_files: 1, content_types: ['application/pdf'] },
      },
      COMMENTS,
    ],
  },
  {
    id: 'equipment-request',
    category: 'operations',
    title: ['Equipment request', 'Materialanforderung', 'Pedido de equipamento', 'Yêu cầu thiết bị'],
    description: [
      'Equipment for the workplace.',
      'Ausstattung für den Arbeitsplatz.',
      'Equipamento para o posto de trabalho.',
      'Thiết bị cho nơi làm việc.',
    ],
    questions: [
      {
        id: 'items',
        type: 'multiple_choice',
        title: ['Equipment', 'Ausstattung', 'Equipamento', 'Thiết bị'],
        required: true,
        options: [
          ['laptop', ['Laptop', 'Laptop', 'Portátil', 'Máy tính xách tay']],
          ['screen', ['Screen', 'Bildschirm', 'Ecrã', 'Màn hình']],
          ['headset', ['Headset', 'Headset', 'Auscultadores', 'Tai nghe']],
        ],
      },
      { id: 'color', type: 'color', title: ['Colour', 'Farbe', 'Cor', 'Màu sắc'] },
      {
        id: 'needed',
        type: 'date',
        title: ['Needed by', 'Benötigt bis', 'Necessário até', 'Cần trước ngày'],
      },
      COMMENTS,
    ],
  },
];
