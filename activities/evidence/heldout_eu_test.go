package evidence

var heldOutGerman = []statement{
	{"Der Vertrag mit der Spedition Möller läuft bis zum 30. September und verlängert sich nicht automatisch.", [][2]string{
		{"Möller", "Müller"}, {"30. September", "13. September"}, {"September", "Dezember"}, {"sich nicht", "sich nun"}, {"bis zum", "ab dem"}, {"Vertrag", "Vortrag"}}},
	{"Bitte den Zugang für externe Prüfer sperren, interne Prüfer dürfen weiterhin alle Belege ab 2022 einsehen.", [][2]string{
		{"sperren", "sparen"}, {"externe", "interne"}, {"dürfen", "müssen"}, {"weiterhin alle", "weiterhin keine"}, {"2022", "2202"}, {"ab 2022", "vor 2022"}, {"Belege", "Beläge"}}},
	{"Der Akku hält im Winter höchstens vier Stunden, im Sommer dagegen mindestens sechs, wenn man das Licht ausschaltet.", [][2]string{
		{"höchstens", "mindestens"}, {"vier", "vierzig"}, {"sechs", "sechzehn"}, {"ausschaltet", "einschaltet"}, {"wenn man", "weil man"}, {"vier", "viele"}}},
	{"Jakob isst kein Fleisch, aber gelegentlich Fisch, und verträgt weder Sellerie noch rohe Karotten.", [][2]string{
		{"kein Fleisch", "viel Fleisch"}, {"gelegentlich", "niemals"}, {"weder Sellerie noch", "sowohl Sellerie als auch"}, {"Jakob", "Jonas"}, {"rohe", "rote"}, {"isst", "ist"}, {"kein", "ein"}}},
	{"Die Rechnung über 1.284,50 Euro ist unbezahlt, die Mahnfrist endet am kommenden Donnerstag.", [][2]string{
		{"1.284,50", "1.248,50"}, {"unbezahlt", "bezahlt"}, {"endet", "beginnt"}, {"Donnerstag", "Dienstag"}, {"Euro", "Franken"}, {"kommenden", "vergangenen"}}},
	{"Der Dienst antwortet mit Status 503, sobald mehr als 250 Anfragen warten, und nimmt erst nach zehn Sekunden wieder neue an.", [][2]string{
		{"503", "530"}, {"mehr als", "weniger als"}, {"250", "205"}, {"zehn", "zwanzig"}, {"Sekunden", "Minuten"}, {"wieder neue", "nie mehr neue"}}},
	{"Karin hat den Umzug von Bremen nach Kassel abgesagt, obwohl die neue Wohnung günstiger gewesen wäre.", [][2]string{
		{"Karin", "Katrin"}, {"von Bremen nach Kassel", "von Kassel nach Bremen"}, {"abgesagt", "zugesagt"}, {"obwohl", "weil"}, {"günstiger", "ungünstiger"}, {"neue", "alte"}}},
	{"Ohne Zustimmung des Betriebsrats darf niemand die Arbeitszeiten ändern, auch nicht vorübergehend.", [][2]string{
		{"Ohne", "Mit"}, {"niemand", "jemand"}, {"darf", "muss"}, {"auch nicht", "auch nur"}, {"Arbeitszeiten", "Arbeitsseiten"}}},
	{"Wir müssen die Belege zählen und drucken, das Amt will uns fordern, und die Mutter von Tim hilft schon mit.", [][2]string{
		{"zählen", "zahlen"}, {"drucken", "drücken"}, {"fordern", "fördern"}, {"Tim", "Tom"}, {"schon", "schön"}, {"müssen", "mussten"}, {"Mutter", "Mütter"}}},
}

var heldOutFrench = []statement{
	{"Le comité a refusé le devis de 36 400 euros et demande une deuxième offre avant la fin du mois de novembre.", [][2]string{
		{"refusé", "accepté"}, {"36 400", "34 600"}, {"deuxième", "douzième"}, {"novembre", "décembre"}, {"a refusé", "n'a pas refusé"}, {"la fin", "le début"}}},
	{"Ma fille est intolérante au gluten, elle peut manger du riz et du maïs mais aucun biscuit ordinaire.", [][2]string{
		{"intolérante", "tolérante"}, {"peut manger", "ne peut pas manger"}, {"aucun", "un"}, {"riz", "raisin"}, {"Ma fille", "Ma famille"}, {"ordinaire", "extraordinaire"}}},
	{"Il faut redémarrer le serveur de Lyon, pas celui de Lille, puis vérifier que le port 5433 reste fermé.", [][2]string{
		{"Lyon, pas celui de Lille", "Lille, pas celui de Lyon"}, {"5433", "5343"}, {"fermé", "ouvert"}, {"Il faut", "Il ne faut pas"}, {"puis", "sans"}, {"pas celui", "puis celui"}, {"fermé", "ferme"}}},
	{"Personne ne conteste que le taux soit passé de 2,4 % à 3,1 %, mais Camille doute que la hausse continue.", [][2]string{
		{"Personne ne", "Chacun"}, {"2,4 %", "4,2 %"}, {"3,1 %", "3,7 %"}, {"hausse", "baisse"}, {"doute", "pense"}, {"Camille", "Camila"}}},
	{"Les billets non utilisés sont remboursables à moitié pendant quatorze jours, au-delà ils sont perdus.", [][2]string{
		{"non utilisés", "utilisés"}, {"remboursables", "irremboursables"}, {"à moitié", "en totalité"}, {"quatorze", "quarante"}, {"perdus", "vendus"}, {"jours", "mois"}}},
	{"On ne déploie jamais le vendredi, sauf si Mathieu et Inès donnent tous les deux leur accord écrit.", [][2]string{
		{"jamais", "que"}, {"vendredi", "mercredi"}, {"sauf si", "même si"}, {"Mathieu et Inès", "Mathieu ou Inès"}, {"écrit", "oral"}, {"Inès", "Agnès"}, {"les deux", "les dix"}}},
	{"Le rendez-vous chez le cardiologue est repoussé du 6 au 16 février, à jeun et sans café.", [][2]string{
		{"6 au 16", "16 au 6"}, {"cardiologue", "radiologue"}, {"repoussé", "avancé"}, {"février", "janvier"}, {"à jeun et sans", "à jeun ou sans"}, {"sans café", "avec café"}}},
	{"Le prêtre a pêché deux carpes, a salé le jambon et a taché la nappe, mais le marché est conclu.", [][2]string{
		{"pêché", "péché"}, {"prêtre", "peintre"}, {"salé", "sale"}, {"marché", "marcheur"}, {"deux", "dix"}, {"conclu", "exclu"}, {"nappe", "nippe"}}},
}

var heldOutSpanish = []statement{
	{"La reunión con Hacienda pasó del lunes al miércoles a las 16:30 y Lucía llevará las facturas originales.", [][2]string{
		{"del lunes al miércoles", "del miércoles al lunes"}, {"16:30", "10:30"}, {"Lucía", "Lucio"}, {"llevará", "llevaba"}, {"originales", "duplicadas"}, {"Hacienda", "Vivienda"}}},
	{"Mi padre no puede tomar ibuprofeno ni aspirina, solo paracetamol de 500 mg cada ocho horas.", [][2]string{
		{"no puede", "ya puede"}, {"ni aspirina", "sino aspirina"}, {"solo", "salvo"}, {"500 mg", "650 mg"}, {"ocho", "dos"}, {"horas", "días"}, {"padre", "madre"}}},
	{"El precio subió un 7,25 % desde enero y ninguno de los proveedores ofrece descuento por pago anticipado.", [][2]string{
		{"subió", "bajó"}, {"7,25 %", "2,75 %"}, {"enero", "febrero"}, {"ninguno", "alguno"}, {"anticipado", "atrasado"}, {"desde", "hasta"}, {"subió", "subirá"}}},
	{"Quien tenga el rol de auditor puede leer los registros pero nunca borrarlos ni exportarlos fuera de la red.", [][2]string{
		{"auditor", "autor"}, {"nunca", "también"}, {"fuera", "dentro"}, {"borrarlos ni", "borrarlos y"}, {"puede", "debe"}, {"pero nunca", "pero"}}},
	{"Antes de vender el piso hay que cancelar la hipoteca, que todavía suma ochenta y seis mil euros.", [][2]string{
		{"Antes", "Después"}, {"vender", "tender"}, {"ochenta", "sesenta"}, {"seis mil", "siete mil"}, {"todavía suma", "ya no suma"}, {"hay que", "no hay que"}}},
	{"El despliegue falló en el nodo 4 porque faltaba memoria; los otros once nodos siguen en la versión 2.6.", [][2]string{
		{"nodo 4", "nodo 9"}, {"falló", "halló"}, {"faltaba", "sobraba"}, {"once", "doce"}, {"2.6", "6.2"}, {"siguen", "seguían"}}},
	{"Marta vive cerca de Gijón, trabaja desde casa tres días por semana y busca un coche usado sin cambio manual.", [][2]string{
		{"cerca", "lejos"}, {"Gijón", "Aragón"}, {"Marta", "Marga"}, {"tres días", "seis días"}, {"usado", "nuevo"}, {"sin cambio", "con cambio"}, {"casa", "caza"}}},
	{"El bebé cumple un año en mayo, el seguro cubrió el daño y la compañía no pagó la multa del médico.", [][2]string{
		{"un año", "un ano"}, {"mayo", "marzo"}, {"cubrió", "cubrirá"}, {"daño", "dado"}, {"no pagó", "pagó"}, {"médico", "mérito"}, {"pagó", "pagará"}}},
}

var heldOutRussian = []statement{
	{"Новый сертификат действителен до 9 октября 2028 года, старый отозван и больше не принимается.", [][2]string{
		{"действителен", "недействителен"}, {"9 октября", "19 октября"}, {"2028", "2082"}, {"отозван", "обновлён"}, {"больше не принимается", "больше принимается"}, {"октября", "ноября"}}},
	{"Врач разрешил Павлу бегать, но запретил поднимать больше пяти килограммов в течение шести недель.", [][2]string{
		{"разрешил", "запретил"}, {"Павлу", "Петру"}, {"пяти", "девяти"}, {"шести", "десяти"}, {"недель", "месяцев"}, {"больше", "меньше"}, {"запретил", "рекомендовал"}}},
	{"Перенос данных из Казани в Самару займёт около 45 минут, откат невозможен после третьего шага.", [][2]string{
		{"из Казани в Самару", "из Самары в Казань"}, {"45 минут", "54 минут"}, {"невозможен", "возможен"}, {"после", "до"}, {"третьего", "пятого"}, {"минут", "часов"}}},
	{"Никто, кроме Светланы, не имеет доступа к рабочей базе, и пароли меняются каждые тридцать дней.", [][2]string{
		{"Никто", "Кто-то"}, {"Светланы", "Снежаны"}, {"кроме", "включая"}, {"рабочей", "тестовой"}, {"тридцать", "двадцать"}, {"не имеет", "имеет"}}},
	{"Мы продали машину за 780 тысяч и купили велосипед, поэтому гараж сдаётся с первого марта.", [][2]string{
		{"продали", "купили"}, {"780", "870"}, {"тысяч", "миллионов"}, {"марта", "мая"}, {"с первого", "до первого"}, {"велосипед", "мотоцикл"}, {"сдаётся", "не сдаётся"}}},
	{"Если очередь длиннее 300 задач, планировщик обязан отклонять новые запросы, а не копить их в памяти.", [][2]string{
		{"длиннее", "короче"}, {"300", "3000"}, {"обязан", "может"}, {"отклонять", "принимать"}, {"а не копить", "а потом копить"}, {"новые", "старые"}}},
	{"Дочь не ест рыбу и грибы, зато любит творог; занятия музыкой у неё по средам в 17:20.", [][2]string{
		{"не ест", "ест"}, {"любит", "губит"}, {"средам", "субботам"}, {"17:20", "11:20"}, {"рыбу и грибы", "рыбу или грибы"}, {"у неё", "у него"}}},
	{"Жена сказала, что мука и соль уже в кладовой, а новый замок открывается без ключа за 3 секунды.", [][2]string{
		{"мука", "муха"}, {"соль", "моль"}, {"без ключа", "с ключом"}, {"3 секунды", "33 секунды"}, {"уже", "ещё не"}, {"новый", "иной"}, {"Жена", "Лена"}}},
}

var heldOutPortuguese = []statement{
	{"O contrato foi assinado em 22 de março e não pode ser rescindido nos primeiros dezoito meses.", [][2]string{
		{"22 de", "27 de"}, {"março", "maio"}, {"não pode", "já pode"}, {"dezoito", "dezesseis"}, {"meses", "dias"}, {"primeiros", "últimos"}}},
	{"A Beatriz é alérgica a camarão e a dipirona, mas tolera bem leite e amendoim.", [][2]string{
		{"Beatriz", "Beatrix"}, {"camarão", "feijão"}, {"tolera bem", "tolera mal"}, {"é alérgica", "não é alérgica"}, {"amendoim", "amêndoa"}, {"leite", "azeite"}}},
	{"O servidor de São Paulo recebe as escritas e o do Recife apenas lê; a réplica atrasa no máximo 4 segundos.", [][2]string{
		{"de São Paulo recebe as escritas e o do Recife", "do Recife recebe as escritas e o de São Paulo"}, {"apenas lê", "também escreve"}, {"no máximo", "no mínimo"}, {"4 segundos", "40 segundos"}, {"atrasa", "adianta"}, {"segundos", "minutos"}}},
	{"Nenhum relatório deve sair sem a assinatura do Tiago, exceto os que valem menos de mil reais.", [][2]string{
		{"Nenhum", "Algum"}, {"sem a", "com a"}, {"Tiago", "Diogo"}, {"menos", "mais"}, {"exceto", "inclusive"}, {"mil reais", "dez mil reais"}, {"deve", "pode"}}},
	{"A conta de luz caiu de 312,80 para 245,10 depois que desligamos o aquecedor antigo.", [][2]string{
		{"caiu", "subiu"}, {"de 312,80 para 245,10", "de 245,10 para 312,80"}, {"312,80", "321,80"}, {"depois que", "antes que"}, {"desligamos", "religamos"}, {"aquecedor", "refrigerador"}, {"antigo", "novo"}}},
	{"Vamos publicar a versão 6.0.4 na terça-feira, nunca antes das nove da noite, e avisar todos os clientes.", [][2]string{
		{"6.0.4", "6.4.0"}, {"terça-feira", "quarta-feira"}, {"nunca antes", "sempre antes"}, {"nove", "onze"}, {"todos os", "alguns"}, {"noite", "manhã"}}},
	{"O exame mostrou colesterol alto, glicemia normal e nenhum sinal de anemia; repetir daqui a seis meses.", [][2]string{
		{"alto", "baixo"}, {"normal", "anormal"}, {"nenhum sinal", "um sinal"}, {"anemia", "amnésia"}, {"seis", "três"}, {"meses", "anos"}}},
	{"A avó decidiu vender o sítio; o juiz pôde anular a cessão, mas não aceitou a caução de 15 mil.", [][2]string{
		{"avó", "avô"}, {"pôde", "pode"}, {"cessão", "sessão"}, {"não aceitou", "aceitou"}, {"15 mil", "50 mil"}, {"caução", "canção"}, {"sítio", "sótão"}}},
}
