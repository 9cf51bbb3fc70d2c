import { AGREEMENT, COMMENTS, EMAIL, NAME, type PresetSource, showIf, YES_NO } from './preset-texts.js';

/** Presets that collect opinions. */
export const SURVEY_PRESETS: readonly PresetSource[] = [
  {
    id: 'customer-feedback',
    category: 'feedback',
    title: ['Customer feedback', 'Kundenfeedback', 'Opinião do cliente', 'Phản hồi của khách hàng'],
    description: [
      'How satisfied are our customers?',
      'Wie zufrieden sind unsere Kunden?',
      'Qual é a satisfação dos nossos clientes?',
      'Khách hàng hài lòng đến mức nào?',
    ],
    questions: [
      {
        id: 'satisfaction',
        type: 'rating',
        title: [
          'How satisfied are you?',
          'Wie zufrieden sind Sie?',
          'Qual é a sua satisfação?',
          'Bạn hài lòng đến mức nào?',
        ],
        required: true,
        settings: { min: 1, max: 5 },
      },
      {
        id: 'reason',
        type: 'long_text',
        title: [
          'What should we improve?',
          'Was sollen wir verbessern?',
          'O que devemos melhorar?',
          'Chúng tôi nên cải thiện điều gì?',
        ],
      },
      {
        id: 'contact',
        type: 'single_choice',
        title: [
          'May we contact you?',
          'Dürfen wir Sie kontaktieren?',
          'Podemos contactá-lo?',
          'Chúng tôi có thể liên hệ với bạn không?',
        ],
        options: YES_NO,
      },
      EMAIL,
    ],
    logic: [
      showIf('email', 'contact', 'yes'),
      {
        action: 'require',
        target: 'reason',
        conditions: [{ question: 'satisfaction', operator: 'at_most', value: 2 }],
      },
    ],
  },
  {
    id: 'nps-survey',
    category: 'feedback',
    title: [
      'Net promoter score',
      'Weiterempfehlung (NPS)',
      'Índice de recomendação (NPS)',
      'Chỉ số giới thiệu (NPS)',
    ],
    description: [
      'Would you recommend us?',
      'Würden Sie uns empfehlen?',
      'Recomendaria os nossos serviços?',
      'Bạn có giới thiệu chúng tôi không?',
    ],
    questions: [
      {
        id: 'nps',
        type: 'nps',
        title: [
          'How likely are you to recommend us to a friend?',
          'Wie wahrscheinlich empfehlen Sie uns weiter?',
          'Qual é a probabilidade de nos recomendar a um amigo?',
          'Khả năng bạn giới thiệu chúng tôi cho bạn bè?',
        ],
        required: true,
        settings: { min: 0, max: 10 },
      },
      {
        id: 'why',
        type: 'long_text',
        title: [
          'Why did you give this score?',
          'Warum diese Bewertung?',
          'Por que deu esta nota?',
          'Vì sao bạn cho điểm này?',
        ],
      },
    ],
  },
  {
    id: 'employee-satisfaction',
    category: 'people',
    title: [
      'Employee satisfaction',
      'Mitarbeiterzufriedenheit',
      'Satisfação dos colaboradores',
      'Sự hài lòng của nhân viên',
    ],
    description: [
      'Use it as an anonymous form.',
      'Als anonymes Formular verwenden.',
      'Use como formulário anónimo.',
      'Nên dùng dưới dạng biểu mẫu ẩn danh.',
    ],
    questions: [
      {
        id: 'statements',
        type: 'matrix',
        title: ['Do you agree?', 'Stimmen Sie zu?', 'Concorda?', 'Bạn có đồng ý không?'],
        required: true,
        rows: [
          [
            'workload',
            [
              'My workload is right',
              'Meine Arbeitslast passt',
              'A minha carga de trabalho é adequada',
              'Khối lượng công việc phù hợp',
            ],
          ],
          [
            'tools',
            [
              'I have the tools I need',
              'Ich habe die nötigen Werkzeuge',
              'Tenho as ferramentas de que preciso',
              'Tôi có đủ công cụ cần thiết',
            ],
          ],
          [
            'team',
            ['I like my team', 'Ich mag mein Team', 'Gosto da minha equipa', 'Tôi thích nhóm của mình'],
          ],
        ],
        options: AGREEMENT,
        validation: { all_rows: true },
      },
      {
        id: 'overall',
        type: 'linear_scale',
        title: ['Overall satisfaction', 'Gesamtzufriedenheit', 'Satisfação geral', 'Mức độ hài lòng chung'],
        settings: { min: 1, max: 10 },
      },
      COMMENTS,
    ],
  },
  {
    id: 'meeting-feedback',
    category: 'feedback',
    title: ['Meeting feedback', 'Feedback zur Besprechung', 'Avaliação da reunião', 'Phản hồi về cuộc họp'],
    description: [
      'Was the meeting useful?',
      'War die Besprechung nützlich?',
      'A reunião foi útil?',
      'Cuộc họp có hữu ích không?',
    ],
    questions: [
      {
        id: 'useful',
        type: 'linear_scale',
        title: [
          'How useful was the meeting?',
          'Wie nützlich war die Besprechung?',
          'A reunião foi útil?',
          'Cuộc họp hữu ích đến mức nào?',
        ],
        required: true,
        settings: { min: 1, max: 5 },
      },
      {
        id: 'length',
        type: 'single_choice',
        title: ['The length was', 'Die Dauer war', 'A duração foi', 'Thời lượng'],
        options: [
          ['short', ['Too short', 'Zu kurz', 'Curta demais', 'Quá ngắn']],
          ['right', ['Right', 'Passend', 'Adequada', 'Vừa đủ']],
          ['long', ['Too long', 'Zu lang', 'Longa demais', 'Quá dài']],
        ],
      },
      COMMENTS,
    ],
  },
  {
    id: 'quiz',
    category: 'education',
    title: ['Quiz', 'Quiz', 'Questionário', 'Câu đố'],
    description: [
      'A short test of knowledge.',
      'Ein kurzer Wissenstest.',
      'Um pequeno teste de conhecimentos.',
      'Bài kiểm tra ngắn.',
    ],
    questions: [
      NAME,
      {
        id: 'capital',
        type: 'single_choice',
        title: [
          'What is the capital of Vietnam?',
          'Was ist die Hauptstadt von Vietnam?',
          'Qual é a capital do Vietname?',
          'Thủ đô của Việt Nam là gì?',
        ],
        required: true,
        options: [
          ['hanoi', ['Hanoi', 'Hanoi', 'Hanói', 'Hà Nội']],
          ['hue', ['Hue', 'Hue', 'Hue', 'Huế']],
          ['danang', ['Da Nang', 'Da Nang', 'Da Nang', 'Đà Nẵng']],
        ],
      },
      {
        id: 'planets',
        type: 'ranking',
        title: [
          'Order the planets by size, the largest first',
          'Ordnen Sie die Planeten nach Größe, den größten zuerst',
          'Ordene os planetas por tamanho, do maior para o menor',
          'Sắp xếp các hành tinh theo kích thước, lớn nhất trước',
        ],
        options: [
          ['earth', ['Earth', 'Erde', 'Terra', 'Trái Đất']],
          ['jupiter', ['Jupiter', 'Jupiter', 'Júpiter', 'Sao Mộc']],
          ['mars', ['Mars', 'Mars', 'Marte', 'Sao Hỏa']],
        ],
      },
    ],
  },
];
