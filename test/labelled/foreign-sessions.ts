/** Sessions in other languages than English. */

import { type Dialogue, dialogue } from "./session.ts";

export const FOREIGN_SESSIONS: readonly Dialogue[] = [
  dialogue(
    "de-drucker",
    "2026-02-10",
    "werkstatt",
    `
user: Der Etikettendrucker druckt Umlaute als Fragezeichen. Woran liegt das?
assistant: Der Drucker erwartet Codepage 850, wir schicken ihm UTF-8.
user: Können wir das umwandeln?
assistant: Ja, vor dem Senden. Zeichen, die es dort nicht gibt, werden umschrieben, zum Beispiel wird aus ő ein o.
`,
  ),
  dialogue(
    "de-rechnung",
    "2026-03-13",
    "werkstatt",
    `
user: Ab nächstem Jahr müssen wir E-Rechnungen empfangen können. Was brauchen wir dafür?
assistant: Ihr müsst XRechnung und ZUGFeRD lesen. Beide enthalten dieselbe XML-Struktur, bei ZUGFeRD steckt sie in einem PDF.
user: Bitte bau einen Import, der die Beträge prüft.
assistant: Der Import liest beide Formate und meldet, wenn die Summe der Positionen nicht zum Gesamtbetrag passt.
`,
  ),
  dialogue(
    "fr-connexion",
    "2026-02-23",
    "billetterie",
    `
user: Les utilisateurs ne reçoivent plus le courriel de réinitialisation du mot de passe.
assistant: Le serveur refuse l'envoi : l'enregistrement SPF ne contient pas la nouvelle adresse.
user: Peux-tu corriger la zone DNS ?
assistant: C'est fait. J'ai aussi ajouté une signature DKIM, et les messages arrivent de nouveau en moins d'une minute.
`,
  ),
  dialogue(
    "fr-places",
    "2026-03-18",
    "billetterie",
    `
user: Deux clients ont acheté la même place numérotée hier soir.
assistant: La vérification et la réservation sont deux requêtes séparées. Entre les deux, un autre acheteur peut passer.
assistant: J'ai mis une contrainte d'unicité sur (séance, siège) et la réservation se fait en une seule instruction. Le second client reçoit un message clair.
`,
  ),
  dialogue(
    "es-almacen",
    "2026-03-24",
    "almacen",
    `
user: El inventario muestra cantidades negativas después de las devoluciones.
assistant: La devolución resta otra vez en lugar de sumar: el signo está invertido en registrarMovimiento.
user: ¿Puedes corregir también los datos existentes?
assistant: Sí. Un script recalculó las existencias de 312 artículos a partir de los movimientos.
`,
  ),
  dialogue(
    "zh-login",
    "2026-02-26",
    "portal",
    `
user: 用户登录以后经常被要求重新输入密码,请查一下原因。
assistant: 刷新令牌的有效期只有十分钟,而且多个标签页同时刷新时会互相作废。
user: 怎么解决?
assistant: 有效期改为七天,并且在轮换之后保留旧令牌三十秒。现在多个标签页不会再把用户踢出去。
`,
  ),
  dialogue(
    "zh-upload",
    "2026-03-21",
    "portal",
    `
user: 上传大文件的时候进度条停在百分之九十九,然后报错超时。
assistant: 反向代理等待后端的时间是六十秒,合并分片需要更久。
assistant: 合并改成后台任务,前端每两秒查询一次状态。十个吉字节的文件也可以上传了。
`,
  ),
  dialogue(
    "ja-mojibake",
    "2026-03-07",
    "kaikei",
    `
user: CSVをExcelで開くと文字化けします。直せますか?
assistant: ExcelはBOMのないUTF-8をShift_JISとして読みます。先頭にBOMを付ければ正しく表示されます。
user: 既存の取引先システムはBOMを受け付けません。
assistant: では出力形式を選べるようにしました。取引先向けはBOMなしのままです。
`,
  ),
  dialogue(
    "ja-batch",
    "2026-03-25",
    "kaikei",
    `
user: 夜間バッチが朝の九時になっても終わりません。
assistant: 請求書を一件ずつ保存していて、そのたびにコミットしています。
assistant: 千件ごとにまとめて保存するように変えました。処理時間は五時間から十八分になりました。
`,
  ),
];
