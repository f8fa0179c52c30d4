create table cursorDiskKV (key text unique, value blob);
insert into cursorDiskKV values ('composerData:c1', '{"composerId":"c1","name":"N","createdAt":1784278800000,"fullConversationHeadersOnly":[{"bubbleId":"b2","type":1},{"bubbleId":"b1","type":2}]}');
insert into cursorDiskKV values ('bubbleId:c1:b1', '{"bubbleId":"b1","type":2,"text":"a","toolFormerData":{"toolCallId":"t","name":"ls","rawArgs":"{}","result":"out"}}');
insert into cursorDiskKV values ('bubbleId:c1:b2', '{"bubbleId":"b2","type":1,"text":"q","workspaceProjectDir":"/w"}');
insert into cursorDiskKV values ('other', null);
